//go:build linux

package wasi

import (
	"fmt"
	"os"
	"testing"

	"golang.org/x/sys/unix"
)

func TestDescriptors(t *testing.T) {
	g, dir := newDirGuest(t, false)
	for _, name := range []string{"a", "b", "c"} {
		writeFile(t, dir, name, name)
	}
	a, b, c := g.mustOpen("a", 0), g.mustOpen("b", 0), g.mustOpen("c", 0)
	if a != 4 || b != 5 || c != 6 {
		t.Fatalf("descriptors %d, %d, %d", a, b, c)
	}
	g.close(a)
	g.want(errnoBadF, "fd_close", uint64(a))
	g.close(b)
	if again := g.mustOpen("b", 0); again != a {
		t.Errorf("%d isn't the lowest free number", again)
	}
	// The file at 4 is b; 6 takes its place.
	g.want(0, "fd_renumber", uint64(c), uint64(a))
	g.mustRead(a, 10, "c")
	g.want(errnoBadF, "fd_tell", uint64(c), 0)
	g.want(errnoBadF, "fd_renumber", uint64(a), uint64(c))
	g.want(errnoBadF, "fd_renumber", uint64(c), uint64(a))
	g.want(errnoBadF, "fd_renumber", uint64(a), 1<<32-1)
	g.want(0, "fd_renumber", uint64(a), uint64(a))
	if n := g.mustOpen("a", 0); n != 5 {
		t.Errorf("the lowest free number was 5, not %d", n)
	}
	// Every function on a number that isn't open, and on a high one.
	for i := range functions {
		f := &functions[i]
		if len(f.name) < 3 || f.name[:3] != "fd_" {
			continue
		}
		for _, fd := range []uint64{9, 1<<32 - 1} {
			args := make([]uint64, len(f.params))
			args[0] = fd
			if e := g.call(f.name, args...); e != errnoBadF {
				t.Errorf("%s(%d) = %v", f.name, fd, e)
			}
		}
	}
	// A preopen can be closed; what was opened below it stays.
	g.want(0, "fd_close", preopenFd)
	g.mustRead(5, 10, "a")
	g.want(errnoBadF, "fd_prestat_get", preopenFd, 0)
	must(t, g.sys.Close())
	if _, e := g.read(5, 10); e != errnoBadF {
		t.Errorf("reading after Close = %v", e)
	}
}

func TestDescriptorLimit(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "f", "x")
	g := newGuest(t, Config{MaxFiles: 6, Preopens: []Preopen{{Host: dir, Guest: "/"}}})
	before := openFiles(t)
	g.mustOpen("f", 0)
	last := g.mustOpen("f", 0)
	for range 3 {
		if _, e := g.open(preopenFd, "f", 0, 0, rightFdRead, 0); e != errnoMFile {
			t.Errorf("beyond the limit = %v", e)
		}
	}
	g.close(last)
	g.mustOpen("f", 0)
	if n := openFiles(t) - before; n != 2 {
		t.Errorf("the host has %d more files open, not 2", n)
	}
	must(t, g.sys.Close())
	if _, err := New(Config{MaxFiles: 3, Preopens: []Preopen{{Host: dir}}}); err == nil {
		t.Error("a limit below the initial descriptors is accepted")
	}
}

func openFiles(t *testing.T) int {
	l, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		t.Skip(err)
	}
	return len(l)
}

// TestNoLeak runs failing and succeeding path operations and counts the
// host's descriptors.
func TestNoLeak(t *testing.T) {
	bothWays(t, func(t *testing.T, walk bool) {
		g, base := escapeTree(t, walk)
		before := openFiles(t)
		for range 3 {
			for _, path := range []string{"..", "absfile", "good", "loop", "dir/none", "dir/up2/x", "inside/x", "dir/file/", "dir"} {
				if fd, e := g.open(preopenFd, path, lookupFollow, 0, rightFdRead, 0); e == 0 {
					g.close(fd)
				}
				g.stat(path, 1)
				g.readlink(path)
				g.rename(path, path+"/x")
				g.link(path, "dir/file", 1)
				g.pathCall("path_unlink_file", path+"/")
			}
		}
		if after := openFiles(t); after != before {
			t.Errorf("%d files open before, %d after (below %s)", before, after, base)
		}
	})
}

func TestPreopens(t *testing.T) {
	one, two := t.TempDir(), t.TempDir()
	g := newGuest(t, Config{Preopens: []Preopen{{Host: one, Guest: "/one"}, {Host: two}}})
	for i, name := range []string{"/one", two} {
		fd := uint64(preopenFd + i)
		p := g.alloc(8)
		g.want(0, "fd_prestat_get", fd, p)
		if get32(g.mem[p:]) != 0 || int(get32(g.mem[p+4:])) != len(name) {
			t.Errorf("prestat %v", g.mem[p:p+8])
		}
		buf := g.alloc(len(name) + 5)
		g.want(errnoNameTooLong, "fd_prestat_dir_name", fd, buf, uint64(len(name)-1))
		g.want(0, "fd_prestat_dir_name", fd, buf, uint64(len(name)+5))
		if got := string(g.mem[buf:][:len(name)]); got != name {
			t.Errorf("name %q", got)
		}
		st := g.alloc(24)
		g.want(0, "fd_fdstat_get", fd, st)
		if g.mem[st] != filetypeDirectory || rights(get64(g.mem[st+8:])) != dirRights || rights(get64(g.mem[st+16:])) != allRights {
			t.Errorf("fdstat %v", g.mem[st:st+24])
		}
	}
	for _, fd := range []uint64{0, 1, 2, 5} {
		g.want(errnoBadF, "fd_prestat_get", fd, 64)
	}
	for _, bad := range []Config{
		{Preopens: []Preopen{{Host: one + "/none"}}}, {Preopens: []Preopen{{Host: os.Args[0]}}},
		{Args: []string{"a\x00b"}}, {Env: []string{"novalue"}}, {Env: []string{"K=\x00"}},
	} {
		if _, err := New(bad); err == nil {
			t.Errorf("%+v is accepted", bad)
		}
	}
}

// TestReaddir reads a directory with buffers of many sizes; all must give the
// same entries, once each.
func TestReaddir(t *testing.T) {
	g, dir := newDirGuest(t, false)
	want := map[string]uint8{".": filetypeDirectory, "..": filetypeDirectory}
	for i := range 1000 {
		name := fmt.Sprintf("file-%d", i)
		writeFile(t, dir, name, "")
		want[name] = filetypeRegular
	}
	must(t, os.Mkdir(dir+"/sub", 0o777))
	must(t, os.Symlink("x", dir+"/link"))
	must(t, unix.Mkfifo(dir+"/fifo", 0o666))
	want["sub"], want["link"], want["fifo"] = filetypeDirectory, filetypeSymbolicLink, filetypeUnknown

	fd := g.mustOpen(".", oflagDirectory)
	type dirent struct {
		name string
		next uint64
	}
	list := func(size int, cookie uint64) (all []dirent) {
		t.Helper()
		buf, used := g.alloc(size), g.alloc(4)
		for {
			g.want(0, "fd_readdir", uint64(fd), buf, uint64(size), cookie, used)
			n := int(get32(g.mem[used:]))
			b := g.mem[buf:][:n]
			progress := false
			for len(b) >= direntHeader && len(b) >= direntHeader+int(get32(b[16:])) {
				name := string(b[direntHeader:][:get32(b[16:])])
				if typ, ok := want[name]; !ok || typ != b[20] {
					t.Fatalf("entry %q of type %d", name, b[20])
				}
				cookie, progress = get64(b), true
				all = append(all, dirent{name, cookie})
				b = b[direntHeader+len(name):]
			}
			if n < size {
				return all
			}
			if !progress {
				t.Fatalf("no progress with %d bytes", size)
			}
		}
	}
	var all []dirent
	for _, size := range []int{33, 40, 64, 100, 4096, 100_000} {
		all = list(size, 0)
		seen := map[string]bool{}
		for _, e := range all {
			if seen[e.name] {
				t.Errorf("%d bytes: %q twice", size, e.name)
			}
			seen[e.name] = true
		}
		if len(all) != len(want) {
			t.Errorf("%d bytes: %d entries, want %d", size, len(all), len(want))
		}
	}
	// From a cookie on: the entries behind it, also in another order of calls.
	for _, i := range []int{900, 10, len(all) - 1, 500} {
		rest := list(4096, all[i].next)
		if len(rest) != len(all)-i-1 || len(rest) > 0 && rest[0] != all[i+1] {
			t.Errorf("from entry %d: %d entries", i, len(rest))
		}
	}
	// Cookies survive changes, and the beginning is read anew.
	must(t, os.Remove(dir+"/"+all[900].name))
	if rest := list(4096, all[900].next); len(rest) != len(all)-901 {
		t.Errorf("after a removal: %d entries", len(rest))
	}
	if again := list(4096, 0); len(again) != len(all)-1 {
		t.Errorf("after a removal: %d entries from the beginning", len(again))
	}
	// A buffer too small for anything is filled.
	buf, used := g.alloc(10), g.alloc(4)
	g.want(0, "fd_readdir", uint64(fd), buf, 10, 0, used)
	if n := get32(g.mem[used:]); n != 10 {
		t.Errorf("10 bytes: %d used", n)
	}
	file := g.mustOpen("file-1", 0)
	g.want(errnoNotDir, "fd_readdir", uint64(file), buf, 10, 0, used)
	for _, f := range []string{"fd_read", "fd_write"} {
		p, n, _ := g.vec(make([]byte, 4))
		g.want(errnoIsDir, f, uint64(fd), p, n, used)
	}
	if _, e := g.seek(fd, 0, 0); e != errnoBadF {
		t.Errorf("seek in a directory = %v", e)
	}
}
