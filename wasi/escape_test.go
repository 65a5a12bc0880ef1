//go:build linux

package wasi

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// escapeTree lays out a directory "in" that is preopened, with every kind of
// link out of it, beside a directory "out" with a secret.
func escapeTree(t *testing.T, walk bool) (*guest, string) {
	base := t.TempDir()
	writeFile(t, base, "out/secret", "secret")
	writeFile(t, base, "in/inside", "inside")
	writeFile(t, base, "in/dir/file", "file")
	for link, target := range map[string]string{
		"up":        "..",
		"upfile":    "../out/secret",
		"absdir":    filepath.Join(base, "out"),
		"absfile":   filepath.Join(base, "out/secret"),
		"absinside": filepath.Join(base, "in/inside"),
		"root":      "/",
		"dir/up2":   "../../out",
		"chain":     "dir/up2",
		"back":      "../in/inside",
		"good":      "dir/file",
		"dir/good2": "../inside",
		"loop":      "loop",
		"dangling":  "../out/new",
	} {
		must(t, os.Symlink(target, filepath.Join(base, "in", link)))
	}
	g := newGuest(t, Config{Preopens: []Preopen{{Host: filepath.Join(base, "in"), Guest: "/"}}})
	g.setWalk(walk)
	return g, base
}

func TestEscape(t *testing.T) {
	bothWays(t, func(t *testing.T, walk bool) {
		g, base := escapeTree(t, walk)
		out := []string{
			"..", "../", "../out/secret", "../in/inside", "dir/../../out/secret", "dir/../..", "./../out",
			"/", "/etc/passwd", base + "/out/secret", "//etc", "../../../../../../../../etc/passwd",
			"up/out/secret", "up", "upfile", "absdir/secret", "absdir", "absfile", "absinside", "root/etc/passwd", "root",
			"dir/up2/secret", "dir/up2", "chain/secret", "chain", "back", "dir/../up/out/secret",
		}
		for _, path := range out {
			if fd, e := g.open(preopenFd, path, lookupFollow, 0, rightFdRead, 0); e != errnoNotCapable {
				t.Errorf("open %q = %d, %v", path, fd, e)
			}
			if _, e := g.open(preopenFd, path, lookupFollow, oflagDirectory, rightFdReaddir, 0); e != errnoNotCapable {
				t.Errorf("open %q as a directory = %v", path, e)
			}
			if _, e := g.stat(path, 1); e != errnoNotCapable {
				t.Errorf("stat %q = %v", path, e)
			}
			p, n := g.str(path)
			g.want(errnoNotCapable, "path_filestat_set_times", preopenFd, 1, p, n, 0, 0, uint64(fstMtim))
		}
		// A name in a directory outside.
		for _, dir := range []string{"..", "up", "absdir", "root", "chain", "dir/../..", "/", "/tmp", "dir/up2"} {
			path := dir + "/made"
			for _, f := range []string{"path_create_directory", "path_remove_directory", "path_unlink_file"} {
				if e := g.pathCall(f, path); e != errnoNotCapable {
					t.Errorf("%s(%q) = %v", f, path, e)
				}
			}
			if _, e := g.open(preopenFd, path, 0, oflagCreat, readWrite, 0); e != errnoNotCapable {
				t.Errorf("create %q = %v", path, e)
			}
			if e := g.rename("inside", path); e != errnoNotCapable {
				t.Errorf("rename to %q = %v", path, e)
			}
			if e := g.rename(path, "taken"); e != errnoNotCapable {
				t.Errorf("rename from %q = %v", path, e)
			}
			if e := g.link("inside", path, 0); e != errnoNotCapable {
				t.Errorf("link to %q = %v", path, e)
			}
			if e := g.link(path, "taken", 0); e != errnoNotCapable {
				t.Errorf("link from %q = %v", path, e)
			}
			if e := g.symlink("x", path); e != errnoNotCapable {
				t.Errorf("symlink at %q = %v", path, e)
			}
			if _, e := g.readlink(path); e != errnoNotCapable {
				t.Errorf("readlink %q = %v", path, e)
			}
		}
		if e := g.link("upfile", "taken", 1); e != errnoNotCapable {
			t.Errorf("link through a link = %v", e)
		}
		if _, e := g.open(preopenFd, "dangling", lookupFollow, oflagCreat, readWrite, 0); e != errnoNotCapable {
			t.Errorf("create through a dangling link = %v", e)
		}
		if e := g.symlink("/etc/passwd", "abs"); e != errnoNotCapable {
			t.Errorf("absolute link = %v", e)
		}
		if left, _ := os.ReadDir(filepath.Join(base, "out")); len(left) != 1 {
			t.Errorf("the directory outside has changed: %v", left)
		}
		if readFile(t, base, "out/secret") != "secret" {
			t.Error("the secret has changed")
		}
		// A directory handle is a boundary too.
		dir := g.mustOpen("dir", oflagDirectory)
		if _, e := g.open(dir, "../inside", lookupFollow, 0, rightFdRead, 0); e != errnoNotCapable {
			t.Errorf("leaving a directory handle = %v", e)
		}
		// What stays inside works.
		for path, text := range map[string]string{
			"inside": "inside", "./dir/../inside": "inside", "good": "file", "dir/good2": "inside", "dir//.//file": "file",
		} {
			fd, e := g.open(preopenFd, path, lookupFollow, 0, rightFdRead, 0)
			if e != 0 {
				t.Errorf("open %q = %v", path, e)
				continue
			}
			g.mustRead(fd, 100, text)
			g.close(fd)
		}
		if _, e := g.open(preopenFd, "loop", lookupFollow, 0, rightFdRead, 0); e != errnoLoop {
			t.Errorf("a loop of links = %v", e)
		}
	})
}

func TestNoFollow(t *testing.T) {
	bothWays(t, func(t *testing.T, walk bool) {
		g, _ := escapeTree(t, walk)
		for _, c := range []struct {
			path   string
			oflags uint32
			want   errno
		}{
			{"good", 0, errnoLoop},
			{"absfile", 0, errnoLoop},
			{"up", 0, errnoLoop},
			{"up", oflagDirectory, errnoNotDir},
			{"dangling", oflagCreat, errnoLoop},
			{"good", oflagCreat | oflagExcl, errnoExist},
			{"inside", 0, 0},
			{"dir", oflagDirectory, 0},
		} {
			if _, e := g.open(preopenFd, c.path, 0, c.oflags, rightFdRead, 0); e != c.want {
				t.Errorf("open %q with %d = %v, want %v", c.path, c.oflags, e, c.want)
			}
		}
		st, e := g.stat("upfile", 0)
		if e != 0 || st[16] != filetypeSymbolicLink {
			t.Errorf("stat of a link = type %d, %v", st[16], e)
		}
		if s, e := g.readlink("upfile"); e != 0 || s != "../out/secret" {
			t.Errorf("readlink = %q, %v", s, e)
		}
		if _, e := g.readlink("inside"); e != errnoInval {
			t.Errorf("readlink of a file = %v", e)
		}
		// The last link isn't followed, those before it are.
		if e := g.link("good", "hard", 0); e != 0 {
			t.Fatal(e)
		}
		if s, e := g.readlink("hard"); e != 0 || s != "dir/file" {
			t.Errorf("a link's link = %q, %v", s, e)
		}
		if e := g.link("good", "hard2", 1); e != 0 {
			t.Fatal(e)
		}
		g.mustRead(g.mustOpen("hard2", 0), 100, "file")
	})
}

// TestRace swaps a directory with a link that leads out of the preopen while
// the guest works below it, from a host goroutine.
func TestRace(t *testing.T) {
	bothWays(t, func(t *testing.T, walk bool) {
		base := t.TempDir()
		writeFile(t, base, "out/file", "secret")
		writeFile(t, base, "in/d/file", "inside")
		in := filepath.Join(base, "in")
		must(t, os.Symlink("../out", filepath.Join(in, "l")))
		g := newGuest(t, Config{Preopens: []Preopen{{Host: in, Guest: "/"}}})
		g.setWalk(walk)

		stop := make(chan struct{})
		var wg sync.WaitGroup
		wg.Go(func() {
			d, l := filepath.Join(in, "d"), filepath.Join(in, "l")
			for {
				select {
				case <-stop:
					return
				default:
					unix.Renameat2(unix.AT_FDCWD, d, unix.AT_FDCWD, l, unix.RENAME_EXCHANGE)
				}
			}
		})
		opened, refused := 0, 0
		for end := time.Now().Add(500 * time.Millisecond); time.Now().Before(end); {
			fd, e := g.open(preopenFd, "d/file", lookupFollow, 0, rightFdRead, 0)
			switch e {
			case 0:
				opened++
				if s, e := g.read(fd, 100); e != 0 || s != "inside" {
					t.Fatalf("read %q, %v", s, e)
				}
				g.close(fd)
			case errnoNotCapable, errnoNotDir, errnoNoEnt, errnoAgain, errnoLoop:
				refused++
			default:
				t.Fatalf("open = %v", e)
			}
			fd, e = g.open(preopenFd, "d/made", lookupFollow, oflagCreat, readWrite, 0)
			if e == 0 {
				g.mustWrite(fd, "x")
				g.close(fd)
			}
			g.pathCall("path_create_directory", "d/sub")
			g.rename("d/made", "d/moved")
			g.symlink("x", "d/link")
			g.pathCall("path_unlink_file", "d/link")
			g.pathCall("path_unlink_file", "d/moved")
			g.pathCall("path_remove_directory", "d/sub")
		}
		close(stop)
		wg.Wait()
		if opened == 0 || refused == 0 {
			t.Logf("%d opened, %d refused: the race was not much of one", opened, refused)
		}
		left, err := os.ReadDir(filepath.Join(base, "out"))
		must(t, err)
		if len(left) != 1 || readFile(t, base, "out/file") != "secret" {
			t.Errorf("the directory outside has changed: %v", left)
		}
	})
}

// TestProcfs gives the guest the host's root and lets it try every way to the
// process it runs in.
func TestProcfs(t *testing.T) {
	if _, err := os.Stat("/proc/self/mem"); err != nil {
		t.Skip("no procfs at /proc")
	}
	bothWays(t, func(t *testing.T, walk bool) {
		tmp := t.TempDir()
		g := newGuest(t, Config{Preopens: []Preopen{{Host: "/", Guest: "/"}}})
		g.setWalk(walk)
		below := strings.TrimPrefix(tmp, "/") + "/"
		for link, target := range map[string]string{
			"mem": "/proc/self/mem", "proc": "/proc", "self": "/proc/self", "fd0": "/proc/self/fd/0",
			"cwd": "/proc/self/cwd", "exe": "/proc/thread-self/exe",
		} {
			if e := g.symlink(target, below+link); e != 0 {
				t.Fatalf("symlink = %v", e)
			}
		}
		if e := g.symlink("../../../../../../../proc/self/mem", below+"rel"); e != 0 {
			t.Fatal(e)
		}
		pid := "proc/" + strconv.Itoa(os.Getpid())
		paths := []string{
			"proc/self/mem", pid + "/mem", "proc/thread-self/mem", "proc/self/task/" + strconv.Itoa(unix.Gettid()) + "/mem",
			"proc/self/maps", "proc/self/fd/0", "proc/self/fd/3", "proc/self/fd", "proc/self/root/etc/passwd", "proc/self/cwd",
			"proc/self/exe", "proc/self/map_files", "proc/self/environ", "proc/1/mem", "proc", "proc/", "proc/.", "proc/self",
			"proc/self/..", "proc/sys/kernel/core_pattern", "dev/stdin", "dev/fd/0", "dev/fd", "dev/stdout",
			"proc/self/root/proc/self/mem", "../proc/self/mem", "tmp/../proc/self/mem",
			below + "mem", below + "proc/self/mem", below + "proc", below + "self/mem", below + "fd0", below + "cwd/x",
			below + "exe", below + "rel",
		}
		for _, path := range paths {
			if _, err := os.Lstat("/" + path); err != nil {
				continue // not on this machine
			}
			refused := func(what string, e errno) {
				t.Helper()
				if e != errnoAcces && e != errnoLoop && e != errnoNotDir && e != errnoNoEnt && e != errnoPerm {
					t.Errorf("%s %q = %v", what, path, e)
				}
			}
			_, e := g.open(preopenFd, path, lookupFollow, 0, rightFdRead, 0)
			refused("open", e)
			_, e = g.open(preopenFd, path, lookupFollow, 0, rightFdRead|rightFdWrite, 0)
			if e != errnoIsDir {
				refused("open for writing", e)
			}
			_, e = g.open(preopenFd, path, lookupFollow, oflagDirectory, rightFdReaddir, 0)
			refused("open as a directory", e)
			_, e = g.stat(path, 1)
			refused("stat", e)
			refused("link", g.link(path, below+"hard", 1))
			if strings.HasPrefix(path, "proc/") {
				_, e = g.readlink(path)
				refused("readlink", e)
				refused("link", g.link(path, below+"hard", 0))
				if e := g.rename(path, below+"moved"); e != errnoBusy { // a mount point
					refused("rename", e)
				}
			}
		}
		// Everything else is there.
		if st, e := g.stat("etc/passwd", 1); e != 0 || st[16] != filetypeRegular {
			t.Errorf("stat etc/passwd = %v", e)
		}
		if st, e := g.stat("../../etc/passwd", 1); e != 0 || st[16] != filetypeRegular {
			t.Errorf(".. of the root isn't the root: %v", e)
		}
		writeFile(t, tmp, "file", "text")
		if e := g.symlink(tmp+"/file", below+"abs"); e != 0 {
			t.Fatal(e)
		}
		if st, e := g.stat(below+"abs", 1); e != 0 || st[16] != filetypeRegular {
			t.Errorf("an absolute link below / = %v", e)
		}
	})
	if _, err := New(Config{Preopens: []Preopen{{Host: "/proc/self"}}}); err == nil {
		t.Error("a preopen on a procfs is accepted")
	}
}

// TestProcfsBind mounts a second procfs where no name tells of it.
func TestProcfsBind(t *testing.T) {
	dir := t.TempDir()
	must(t, os.Mkdir(filepath.Join(dir, "innocent"), 0o777))
	if err := unix.Mount("/proc", filepath.Join(dir, "innocent"), "", unix.MS_BIND|unix.MS_REC, ""); err != nil {
		t.Skip("mounting needs privileges: ", err)
	}
	defer unix.Unmount(filepath.Join(dir, "innocent"), unix.MNT_DETACH)
	g := newGuest(t, Config{Preopens: []Preopen{{Host: dir, Guest: "/"}}})
	for _, walk := range []bool{false, true} {
		g.setWalk(walk)
		for _, path := range []string{"innocent", "innocent/self/mem", "innocent/self/fd", "innocent/version"} {
			if _, e := g.open(preopenFd, path, lookupFollow, 0, rightFdRead, 0); e != errnoAcces {
				t.Errorf("open %q = %v", path, e)
			}
			if _, e := g.stat(path, 1); e != errnoAcces {
				t.Errorf("stat %q = %v", path, e)
			}
		}
	}
}
