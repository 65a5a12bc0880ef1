//go:build linux

package wasi

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

// guest calls functions as a program would: through the table, with addresses
// in a memory.
type guest struct {
	t   *testing.T
	sys *System
	mem []byte
	top uint32
}

// preopenFd is the number of the first preopened directory.
const preopenFd = 3

func newGuest(t *testing.T, c Config) *guest {
	t.Helper()
	sys, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { sys.Close() })
	return &guest{t: t, sys: sys, mem: make([]byte, 1<<20), top: 16}
}

// newDirGuest has a temporary directory of the host as its only preopen,
// resolved by openat2 or, with walk, by walking.
func newDirGuest(t *testing.T, walk bool) (*guest, string) {
	t.Helper()
	dir := t.TempDir()
	g := newGuest(t, Config{Preopens: []Preopen{{Host: dir, Guest: "/"}}})
	g.setWalk(walk)
	return g, dir
}

func (g *guest) setWalk(walk bool) {
	for _, d := range g.sys.files.files {
		d.walk = walk
	}
}

// bothWays runs a test with each of the two resolvers.
func bothWays(t *testing.T, f func(t *testing.T, walk bool)) {
	t.Run("openat2", func(t *testing.T) {
		fd, err := unix.Open(".", unix.O_PATH, 0)
		if err != nil {
			t.Fatal(err)
		}
		defer unix.Close(fd)
		if !haveOpenat2(fd) {
			t.Skip("no openat2 here")
		}
		f(t, false)
	})
	t.Run("walk", func(t *testing.T) { f(t, true) })
}

// call runs a function by its name and returns what the guest is told.
func (g *guest) call(name string, args ...uint64) errno {
	g.t.Helper()
	e, err := g.callCtx(context.Background(), name, args...)
	if err != nil {
		g.t.Fatalf("%s ended the guest: %v", name, err)
	}
	return e
}

func (g *guest) callCtx(ctx context.Context, name string, args ...uint64) (errno, error) {
	g.t.Helper()
	for i := range functions {
		if f := &functions[i]; f.name == name {
			if len(args) != len(f.params) {
				g.t.Fatalf("%s takes %d parameters, not %d", name, len(f.params), len(args))
			}
			stack := append(args, 0)
			err := g.sys.call(ctx, f.run, g.mem, stack)
			return errno(stack[0]), err
		}
	}
	g.t.Fatalf("no function %s", name)
	return 0, nil
}

// want calls and demands one answer.
func (g *guest) want(e errno, name string, args ...uint64) {
	g.t.Helper()
	if got := g.call(name, args...); got != e {
		g.t.Fatalf("%s%v = %v, want %v", name, args, got, e)
	}
}

// alloc returns the address of n fresh bytes.
func (g *guest) alloc(n int) uint64 {
	g.t.Helper()
	p := (g.top + 7) &^ 7
	if uint64(p)+uint64(n) > uint64(len(g.mem)) {
		p = 16
	}
	g.top = p + uint32(n)
	clear(g.mem[p:g.top])
	return uint64(p)
}

func (g *guest) put(b []byte) uint64 {
	p := g.alloc(len(b))
	copy(g.mem[p:], b)
	return p
}

// str puts a string and returns its address and length.
func (g *guest) str(s string) (p, n uint64) { return g.put([]byte(s)), uint64(len(s)) }

// vec puts an iovec for each buffer and returns the list's address and length.
func (g *guest) vec(bufs ...[]byte) (p, n uint64, at []uint64) {
	recs := make([]byte, 8*len(bufs))
	for i, b := range bufs {
		at = append(at, g.put(b))
		put32(recs[8*i:], uint32(at[i]))
		put32(recs[8*i+4:], uint32(len(b)))
	}
	return g.put(recs), uint64(len(bufs)), at
}

// open is path_open with all rights that the directory gives on.
func (g *guest) open(dir uint32, path string, dirflags, oflags uint32, base rights, fdflags uint16) (uint32, errno) {
	g.t.Helper()
	p, n := g.str(path)
	out := g.alloc(4)
	e := g.call("path_open", uint64(dir), uint64(dirflags), p, n, uint64(oflags), uint64(base),
		uint64(allRights), uint64(fdflags), out)
	return get32(g.mem[out:]), e
}

const readWrite = fileRights

// mustOpen opens for reading and writing, following links.
func (g *guest) mustOpen(path string, oflags uint32) uint32 {
	g.t.Helper()
	base := readWrite
	if oflags&oflagDirectory != 0 {
		base = dirRights
	}
	fd, e := g.open(preopenFd, path, lookupFollow, oflags, base, 0)
	if e != 0 {
		g.t.Fatalf("path_open(%q) = %v", path, e)
	}
	return fd
}

func (g *guest) close(fd uint32) { g.t.Helper(); g.want(0, "fd_close", uint64(fd)) }

func (g *guest) write(fd uint32, s string) (int, errno) {
	g.t.Helper()
	p, n, _ := g.vec([]byte(s))
	out := g.alloc(4)
	e := g.call("fd_write", uint64(fd), p, n, out)
	return int(get32(g.mem[out:])), e
}

func (g *guest) mustWrite(fd uint32, s string) {
	g.t.Helper()
	if n, e := g.write(fd, s); e != 0 || n != len(s) {
		g.t.Fatalf("fd_write = %d, %v", n, e)
	}
}

func (g *guest) readCtx(ctx context.Context, fd uint32, size int) (string, errno, error) {
	g.t.Helper()
	p, n, at := g.vec(make([]byte, size))
	out := g.alloc(4)
	e, err := g.callCtx(ctx, "fd_read", uint64(fd), p, n, out)
	return string(g.mem[at[0]:][:get32(g.mem[out:])]), e, err
}

func (g *guest) read(fd uint32, size int) (string, errno) {
	g.t.Helper()
	s, e, err := g.readCtx(context.Background(), fd, size)
	if err != nil {
		g.t.Fatal(err)
	}
	return s, e
}

func (g *guest) mustRead(fd uint32, size int, want string) {
	g.t.Helper()
	if s, e := g.read(fd, size); e != 0 || s != want {
		g.t.Fatalf("fd_read = %q, %v, want %q", s, e, want)
	}
}

func (g *guest) seek(fd uint32, offset int64, whence uint64) (uint64, errno) {
	g.t.Helper()
	out := g.alloc(8)
	e := g.call("fd_seek", uint64(fd), uint64(offset), whence, out)
	return get64(g.mem[out:]), e
}

// pathCall runs a function that takes (fd, path, path_len) on the preopen.
func (g *guest) pathCall(name, path string) errno {
	g.t.Helper()
	p, n := g.str(path)
	return g.call(name, preopenFd, p, n)
}

func (g *guest) rename(from, to string) errno {
	g.t.Helper()
	p, n := g.str(from)
	q, k := g.str(to)
	return g.call("path_rename", preopenFd, p, n, preopenFd, q, k)
}

func (g *guest) link(from, to string, flags uint64) errno {
	g.t.Helper()
	p, n := g.str(from)
	q, k := g.str(to)
	return g.call("path_link", preopenFd, flags, p, n, preopenFd, q, k)
}

func (g *guest) symlink(target, path string) errno {
	g.t.Helper()
	p, n := g.str(target)
	q, k := g.str(path)
	return g.call("path_symlink", p, n, preopenFd, q, k)
}

func (g *guest) readlink(path string) (string, errno) {
	g.t.Helper()
	p, n := g.str(path)
	buf, used := g.alloc(4096), g.alloc(4)
	e := g.call("path_readlink", preopenFd, p, n, buf, 4096, used)
	return string(g.mem[buf:][:get32(g.mem[used:])]), e
}

// stat returns the filestat record of a path.
func (g *guest) stat(path string, flags uint64) ([]byte, errno) {
	g.t.Helper()
	p, n := g.str(path)
	out := g.alloc(64)
	e := g.call("path_filestat_get", preopenFd, flags, p, n, out)
	return g.mem[out : out+64 : out+64], e
}

func writeFile(t *testing.T, dir, name, text string) {
	t.Helper()
	path := filepath.Join(dir, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func readFile(t *testing.T, dir, name string) string {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
