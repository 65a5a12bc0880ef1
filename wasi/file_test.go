//go:build linux

package wasi

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestReadWriteSeek(t *testing.T) {
	g, dir := newDirGuest(t, false)
	fd := g.mustOpen("f", oflagCreat)
	p, n, _ := g.vec([]byte("hello, "), nil, []byte("world"))
	out := g.alloc(4)
	g.want(0, "fd_write", uint64(fd), p, n, out)
	if got := get32(g.mem[out:]); got != 12 {
		t.Fatalf("wrote %d", got)
	}
	g.mustRead(fd, 10, "")
	for _, c := range []struct {
		offset int64
		whence uint64
		pos    uint64
		want   errno
	}{
		{0, 0, 0, 0}, {3, 1, 3, 0}, {-2, 1, 1, 0}, {-5, 2, 7, 0}, {0, 1, 7, 0}, {-1, 0, 0, errnoInval},
		{0, 3, 0, errnoInval}, {100, 0, 100, 0}, {-101, 1, 0, errnoInval}, {7, 0, 7, 0},
	} {
		if pos, e := g.seek(fd, c.offset, c.whence); e != c.want || e == 0 && pos != c.pos {
			t.Errorf("seek(%d, %d) = %d, %v", c.offset, c.whence, pos, e)
		}
	}
	p, n, at := g.vec(make([]byte, 3), make([]byte, 10))
	g.want(0, "fd_read", uint64(fd), p, n, out)
	if got := string(g.mem[at[0]:][:3]) + string(g.mem[at[1]:][:2]); get32(g.mem[out:]) != 5 || got != "world" {
		t.Errorf("read %d, %q", get32(g.mem[out:]), got)
	}
	// pread and pwrite leave the position alone.
	p, n, at = g.vec(make([]byte, 5))
	g.want(0, "fd_pread", uint64(fd), p, n, 1, out)
	if s := string(g.mem[at[0]:][:get32(g.mem[out:])]); s != "ello," {
		t.Errorf("pread %q", s)
	}
	p, n, _ = g.vec([]byte("J"))
	g.want(0, "fd_pwrite", uint64(fd), p, n, 0, out)
	tell := g.alloc(8)
	g.want(0, "fd_tell", uint64(fd), tell)
	if pos := get64(g.mem[tell:]); pos != 12 {
		t.Errorf("tell = %d", pos)
	}
	g.want(errnoInval, "fd_pread", uint64(fd), p, n, 1<<63, out)
	if s := readFile(t, dir, "f"); s != "Jello, world" {
		t.Errorf("the file holds %q", s)
	}
	// wasi_unstable numbers whence otherwise: 2 is the beginning.
	stack := []uint64{uint64(fd), 4, 2, tell}
	if err := g.sys.call(t.Context(), (*System).fdSeekUnstable, g.mem, stack); err != nil || stack[0] != 0 || get64(g.mem[tell:]) != 4 {
		t.Errorf("unstable seek: %v, %d at %d", err, stack[0], get64(g.mem[tell:]))
	}
}

func TestTruncateAppendAllocate(t *testing.T) {
	g, dir := newDirGuest(t, false)
	writeFile(t, dir, "f", "0123456789")
	fd, e := g.open(preopenFd, "f", lookupFollow, 0, readWrite, fdflagAppend)
	if e != 0 {
		t.Fatal(e)
	}
	g.mustWrite(fd, "ab")
	if _, e := g.seek(fd, 0, 0); e != 0 {
		t.Fatal(e)
	}
	g.mustWrite(fd, "cd")
	if s := readFile(t, dir, "f"); s != "0123456789abcd" {
		t.Errorf("appended: %q", s)
	}
	g.want(0, "fd_fdstat_set_flags", uint64(fd), 0)
	if _, e := g.seek(fd, 0, 0); e != 0 {
		t.Fatal(e)
	}
	g.mustWrite(fd, "XY")
	g.want(0, "fd_filestat_set_size", uint64(fd), 4)
	if s := readFile(t, dir, "f"); s != "XY23" {
		t.Errorf("after truncation: %q", s)
	}
	g.want(errnoInval, "fd_filestat_set_size", uint64(fd), 1<<63)
	g.want(0, "fd_filestat_set_size", uint64(fd), 6)
	if s := readFile(t, dir, "f"); s != "XY23\x00\x00" {
		t.Errorf("after growing: %q", s)
	}
	switch e := g.call("fd_allocate", uint64(fd), 0, 100); e {
	case 0:
		if st, e := g.stat("f", 0); e != 0 || get64(st[32:]) != 100 {
			t.Errorf("allocated: %d, %v", get64(st[32:]), e)
		}
	case errnoNotSup:
	default:
		t.Errorf("fd_allocate = %v", e)
	}
	g.want(errnoInval, "fd_allocate", uint64(fd), 0, 0)
	g.want(errnoFBig, "fd_allocate", uint64(fd), 1<<62, 1<<62)
	for advice := range uint64(6) {
		g.want(0, "fd_advise", uint64(fd), 0, 10, advice)
	}
	g.want(errnoInval, "fd_advise", uint64(fd), 0, 10, 6)
	for _, flag := range []uint16{fdflagDsync, fdflagSync, fdflagRsync | fdflagSync} {
		g.want(0, "fd_fdstat_set_flags", uint64(fd), uint64(flag))
		g.mustWrite(fd, "z")
	}
	g.want(0, "fd_sync", uint64(fd))
	g.want(0, "fd_datasync", uint64(fd))
	g.want(errnoInval, "fd_fdstat_set_flags", uint64(fd), 32)

	empty := g.mustOpen("f", oflagTrunc)
	g.mustRead(empty, 10, "")
	if s := readFile(t, dir, "f"); s != "" {
		t.Errorf("opened to be emptied: %q", s)
	}
}

func TestTimes(t *testing.T) {
	g, dir := newDirGuest(t, false)
	writeFile(t, dir, "f", "x")
	must(t, os.Symlink("f", filepath.Join(dir, "l")))
	before, err := os.Lstat(filepath.Join(dir, "f"))
	must(t, err)
	set := func(path string, follow, atim, mtim uint64, flags uint32) errno {
		p, n := g.str(path)
		return g.call("path_filestat_set_times", preopenFd, follow, p, n, atim, mtim, uint64(flags))
	}
	times := func(path string) (atim, mtim uint64) {
		st, e := g.stat(path, 0)
		if e != 0 {
			t.Fatal(e)
		}
		return get64(st[40:]), get64(st[48:])
	}
	// The link's own times, then the file's through it.
	if e := set("l", 0, 1e18+1, 2e18+2, fstAtim|fstMtim); e != 0 {
		t.Fatal(e)
	}
	if a, m := times("l"); a != 1e18+1 || m != 2e18+2 {
		t.Errorf("times of the link: %d, %d", a, m)
	}
	if _, m := times("f"); m != uint64(before.ModTime().UnixNano()) {
		t.Error("the link's times went to the file")
	}
	if e := set("l", 1, 5, 3e18, fstMtim); e != 0 {
		t.Fatal(e)
	}
	if _, m := times("f"); m != 3e18 {
		t.Errorf("time of the file: %d", m)
	}
	fd := g.mustOpen("f", 0)
	g.want(0, "fd_filestat_set_times", uint64(fd), 7, 9, uint64(fstAtim|fstMtim))
	if a, m := times("f"); a != 7 || m != 9 {
		t.Errorf("times of the file: %d, %d", a, m)
	}
	g.want(0, "fd_filestat_set_times", uint64(fd), 7, 9, uint64(fstMtimNow))
	if a, m := times("f"); a != 7 || m < uint64(before.ModTime().Unix()) {
		t.Errorf("times of the file: %d, %d", a, m)
	}
	for _, bad := range []uint32{fstAtim | fstAtimNow, fstMtim | fstMtimNow, 16} {
		g.want(errnoInval, "fd_filestat_set_times", uint64(fd), 0, 0, uint64(bad))
		if e := set("f", 0, 0, 0, bad); e != errnoInval {
			t.Errorf("flags %d = %v", bad, e)
		}
	}
}

func TestRights(t *testing.T) {
	g, dir := newDirGuest(t, false)
	writeFile(t, dir, "f", "text")
	writeFile(t, dir, "d/f", "text")
	fd, e := g.open(preopenFd, "f", 0, 0, rightFdRead, 0)
	if e != 0 {
		t.Fatal(e)
	}
	if _, e := g.write(fd, "x"); e != errnoNotCapable {
		t.Errorf("writing without the right = %v", e)
	}
	if _, e := g.seek(fd, 0, 0); e != errnoNotCapable {
		t.Errorf("seeking without the right = %v", e)
	}
	g.mustRead(fd, 2, "te")
	g.want(errnoNotCapable, "fd_filestat_set_size", uint64(fd), 0)
	g.want(errnoNotCapable, "fd_fdstat_set_rights", uint64(fd), uint64(rightFdRead|rightFdWrite), 0)
	g.want(0, "fd_fdstat_set_rights", uint64(fd), 0, 0)
	if _, e := g.read(fd, 2); e != errnoNotCapable {
		t.Errorf("reading after dropping the right = %v", e)
	}

	// Rights pass to what is opened below, and no further.
	p, n := g.str("d")
	out := g.alloc(4)
	g.want(0, "path_open", preopenFd, 0, p, n, uint64(oflagDirectory), uint64(rightPathOpen), uint64(rightFdRead|rightFdTell), 0, out)
	sub := get32(g.mem[out:])
	if _, e := g.open(sub, "f", 0, 0, rightFdRead|rightFdWrite, 0); e != errnoNotCapable {
		t.Errorf("more rights than the directory gives = %v", e)
	}
	if _, e := g.open(sub, "new", 0, oflagCreat, rightFdRead, 0); e != errnoNotCapable {
		t.Errorf("creating without the right = %v", e)
	}
	if _, e := g.open(sub, "f", 0, oflagTrunc, rightFdRead, 0); e != errnoNotCapable {
		t.Errorf("truncating without the right = %v", e)
	}
	q, k := g.str("x")
	g.want(errnoNotCapable, "path_create_directory", uint64(sub), q, k)
	if fd, e := g.open(sub, "f", 0, 0, rightFdRead, 0); e != 0 {
		t.Errorf("opening = %v", e)
	} else {
		g.mustRead(fd, 10, "text")
	}
}

func TestReadOnlyPreopen(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "f", "text")
	writeFile(t, dir, "d/f", "text")
	g := newGuest(t, Config{Preopens: []Preopen{{Host: dir, Guest: "/", ReadOnly: true}}})
	fd, e := g.open(preopenFd, "f", 0, 0, rightFdRead|rightFdFilestatSetTimes|rightFdFilestatSetSize, 0)
	if e != 0 {
		t.Fatal(e)
	}
	g.mustRead(fd, 10, "text")
	g.want(errnoROFS, "fd_filestat_set_times", uint64(fd), 0, 0, uint64(fstMtim))
	g.want(errnoROFS, "fd_filestat_set_size", uint64(fd), 0)
	sub := g.mustOpen("d", oflagDirectory)
	for _, at := range []uint32{preopenFd, sub} {
		for _, oflags := range []uint32{oflagCreat, oflagTrunc} {
			if _, e := g.open(at, "f", 0, oflags, rightFdRead, 0); e != errnoROFS {
				t.Errorf("open with %d = %v", oflags, e)
			}
		}
		if _, e := g.open(at, "f", 0, 0, rightFdWrite, 0); e != errnoROFS {
			t.Errorf("open for writing = %v", e)
		}
	}
	for _, e := range []errno{
		g.pathCall("path_create_directory", "x"), g.pathCall("path_unlink_file", "f"), g.pathCall("path_remove_directory", "d"),
		g.rename("f", "g"), g.link("f", "g", 0), g.symlink("f", "g"),
	} {
		if e != errnoROFS {
			t.Errorf("a change = %v", e)
		}
	}
	p, n := g.str("f")
	g.want(errnoROFS, "path_filestat_set_times", preopenFd, 0, p, n, 0, 0, uint64(fstMtim))
	if s := readFile(t, dir, "f"); s != "text" {
		t.Errorf("the file has changed: %q", s)
	}
}

func TestPathErrors(t *testing.T) {
	bothWays(t, func(t *testing.T, walk bool) {
		g, dir := newDirGuest(t, walk)
		writeFile(t, dir, "file", "text")
		writeFile(t, dir, "full/file", "text")
		writeFile(t, dir, "ünï/côdé", "utf-8")
		must(t, os.Mkdir(filepath.Join(dir, "empty"), 0o777))
		must(t, os.Symlink("full", filepath.Join(dir, "tofull")))
		must(t, os.Symlink("nowhere", filepath.Join(dir, "dangling")))

		open := func(path string, oflags uint32, r rights) errno {
			fd, e := g.open(preopenFd, path, lookupFollow, oflags, r, 0)
			if e == 0 {
				g.close(fd)
			}
			return e
		}
		unlink := func(p string) errno { return g.pathCall("path_unlink_file", p) }
		rmdir := func(p string) errno { return g.pathCall("path_remove_directory", p) }
		mkdir := func(p string) errno { return g.pathCall("path_create_directory", p) }
		for _, c := range []struct {
			what      string
			got, want errno
		}{
			{"open nothing", open("none", 0, rightFdRead), errnoNoEnt},
			{"open empty path", open("", 0, rightFdRead), errnoNoEnt},
			{"open NUL", open("file\x00", 0, rightFdRead), errnoInval},
			{"open not UTF-8", open("fi\xffle", 0, rightFdRead), errnoIlseq},
			{"open UTF-8", open("ünï/côdé", 0, rightFdRead), 0},
			{"open long name", open(strings.Repeat("x", 256), 0, rightFdRead), errnoNameTooLong},
			{"open long path", open(strings.Repeat("x/", 2100), 0, rightFdRead), errnoNameTooLong},
			{"open file/", open("file/", 0, rightFdRead), errnoNotDir},
			{"open file/x", open("file/x", 0, rightFdRead), errnoNotDir},
			{"open dir/", open("full///", 0, rightFdRead), 0},
			{"open dir for writing", open("full", 0, rightFdWrite), errnoIsDir},
			{"open dir as directory for writing", open("full", oflagDirectory, rightFdWrite), errnoIsDir},
			{"open file as directory", open("file", oflagDirectory, 0), errnoNotDir},
			{"create as directory", open("x", oflagCreat|oflagDirectory, 0), errnoInval},
			{"create existing", open("file", oflagCreat|oflagExcl, readWrite), errnoExist},
			{"create x/", open("x/", oflagCreat, readWrite), errnoIsDir},
			{"create over dir", open("full", oflagCreat, readWrite), errnoIsDir},
			{"create in nothing", open("none/x", oflagCreat, readWrite), errnoNoEnt},
			{"create through a link", open("dangling", oflagCreat, readWrite), 0},
			{"created there", unlink("nowhere"), 0},
			{"unknown oflags", open("file", 16, 0), errnoInval},
			{"mkdir existing", mkdir("full"), errnoExist},
			{"mkdir link", mkdir("tofull"), errnoExist},
			{"mkdir .", mkdir("."), errnoExist},
			{"mkdir full/..", mkdir("full/.."), errnoExist},
			{"mkdir none/x", mkdir("none/x"), errnoNoEnt},
			{"mkdir made/", mkdir("made/"), 0},
			{"rmdir made/", rmdir("made/"), 0},
			{"rmdir full", rmdir("full"), errnoNotEmpty},
			{"rmdir file", rmdir("file"), errnoNotDir},
			{"rmdir file/", rmdir("file/"), errnoNotDir},
			{"rmdir link", rmdir("tofull"), errnoNotDir},
			{"rmdir link/", rmdir("tofull/"), errnoNotDir},
			{"rmdir .", rmdir("empty/."), errnoInval},
			{"rmdir ..", rmdir("empty/.."), errnoNotEmpty},
			{"rmdir none", rmdir("none"), errnoNoEnt},
			{"unlink dir", unlink("full"), errnoIsDir},
			{"unlink dir/", unlink("full/"), errnoIsDir},
			{"unlink file/", unlink("file/"), errnoNotDir},
			{"unlink link/", unlink("tofull/"), errnoNotDir},
			{"unlink .", unlink("."), errnoIsDir},
			{"unlink none/", unlink("none/"), errnoNoEnt},
			{"rename file to dir", g.rename("file", "empty"), errnoIsDir},
			{"rename dir to file", g.rename("empty", "file"), errnoNotDir},
			{"rename dir to full dir", g.rename("empty", "full"), errnoNotEmpty},
			{"rename file/", g.rename("file/", "x"), errnoNotDir},
			{"rename file to x/", g.rename("file", "x/"), errnoNotDir},
			{"rename dir into itself", g.rename("full", "full/x"), errnoInval},
			{"rename .", g.rename(".", "x"), errnoBusy},
			{"rename nothing", g.rename("none", "x"), errnoNoEnt},
			{"rename dir/ to x/", g.rename("empty/", "moved/"), 0},
			{"rename back", g.rename("moved", "empty"), 0},
			{"link dir", g.link("full", "x", 0), errnoPerm},
			{"link to existing", g.link("file", "full", 0), errnoExist},
			{"link to x/", g.link("file", "x/", 0), errnoNoEnt},
			{"link file/", g.link("file/", "x", 0), errnoNotDir},
			{"link dangling followed", g.link("dangling", "x", 1), errnoNoEnt},
			{"link bad flags", g.link("file", "x", 2), errnoInval},
			{"symlink existing", g.symlink("x", "file"), errnoExist},
			{"symlink at x/", g.symlink("x", "x/"), errnoNoEnt},
			{"symlink at dir/", g.symlink("x", "full/"), errnoExist},
			{"symlink to nothing", g.symlink("", "x"), errnoNoEnt},
		} {
			if c.got != c.want {
				t.Errorf("%s: %v, want %v", c.what, c.got, c.want)
			}
		}
		if _, e := g.stat("file", 2); e != errnoInval {
			t.Errorf("stat with unknown flags = %v", e)
		}
		p, _ := g.str("link")
		if e := g.symlink("target", "link"); e != 0 {
			t.Fatal(e)
		}
		buf, used := g.alloc(4), g.alloc(4)
		g.want(0, "path_readlink", preopenFd, p, 4, buf, 4, used)
		if s := string(g.mem[buf:][:get32(g.mem[used:])]); s != "targ" {
			t.Errorf("readlink cut to %q", s)
		}
	})
}

func TestFilestat(t *testing.T) {
	g, dir := newDirGuest(t, false)
	writeFile(t, dir, "f", "12345")
	must(t, os.Link(filepath.Join(dir, "f"), filepath.Join(dir, "g")))
	var want unix.Stat_t
	must(t, unix.Stat(filepath.Join(dir, "f"), &want))
	st, e := g.stat("f", 0)
	if e != 0 {
		t.Fatal(e)
	}
	check := func(b []byte, nlink uint64, rest []byte) {
		t.Helper()
		if get64(b) != want.Dev || get64(b[8:]) != want.Ino || b[16] != filetypeRegular || nlink != 2 ||
			get64(rest) != 5 || get64(rest[16:]) != uint64(want.Mtim.Nano()) || get64(rest[24:]) != uint64(want.Ctim.Nano()) {
			t.Errorf("filestat %v", b)
		}
	}
	check(st, get64(st[24:]), st[32:])
	out := g.alloc(64)
	fd := g.mustOpen("f", 0)
	g.want(0, "fd_filestat_get", uint64(fd), out)
	check(g.mem[out:], get64(g.mem[out+24:]), g.mem[out+32:])
	stack := []uint64{uint64(fd), out, 0}
	if err := g.sys.call(t.Context(), (*System).fdFilestatGetUnstable, g.mem, stack); err != nil || stack[0] != 0 {
		t.Fatal(err, stack[0])
	}
	check(g.mem[out:], uint64(get32(g.mem[out+20:])), g.mem[out+24:])
}
