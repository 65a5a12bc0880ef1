//go:build linux

package wasi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func TestArgsEnviron(t *testing.T) {
	g := newGuest(t, Config{Args: []string{"prog", "", "ünï"}, Env: []string{"A=1", "B="}})
	for _, c := range []struct {
		get, sizes string
		want       []string
	}{
		{"args_get", "args_sizes_get", []string{"prog", "", "ünï"}},
		{"environ_get", "environ_sizes_get", []string{"A=1", "B="}},
	} {
		count, size := g.alloc(4), g.alloc(4)
		g.want(0, c.sizes, count, size)
		n, b := int(get32(g.mem[count:])), int(get32(g.mem[size:]))
		if n != len(c.want) || b != stringsSize(c.want) {
			t.Fatalf("%s: %d strings of %d bytes", c.sizes, n, b)
		}
		ptrs, buf := g.alloc(4*n), g.alloc(b)
		g.want(0, c.get, ptrs, buf)
		for i, want := range c.want {
			p := get32(g.mem[int(ptrs)+4*i:])
			if s, _, _ := bytes.Cut(g.mem[p:], []byte{0}); string(s) != want {
				t.Errorf("%s: string %d is %q", c.get, i, s)
			}
		}
		top := uint64(len(g.mem))
		g.want(errnoFault, c.sizes, top-3, size)
		g.want(errnoFault, c.get, ptrs, top-1)
		g.want(errnoFault, c.get, 1<<32-4, buf)
	}
}

func TestClocks(t *testing.T) {
	g := newGuest(t, Config{})
	out := g.alloc(8)
	now := func(id uint64) uint64 { g.want(0, "clock_time_get", id, 1, out); return get64(g.mem[out:]) }
	for id := range uint64(4) {
		g.want(0, "clock_res_get", id, out)
		if r := get64(g.mem[out:]); r == 0 || r > uint64(time.Second) {
			t.Errorf("resolution of clock %d is %d", id, r)
		}
		if a, b := now(id), now(id); b < a {
			t.Errorf("clock %d went from %d to %d", id, a, b)
		}
		g.want(errnoFault, "clock_time_get", id, 0, uint64(len(g.mem)-7))
	}
	if a := now(0); a < 1.6e18 {
		t.Errorf("the time is %d", a)
	}
	if now(1) == 0 {
		t.Error("the monotonic clock reads 0, which Go's runtime refuses")
	}
	g.want(errnoInval, "clock_time_get", 4, 0, out)
	g.want(errnoInval, "clock_res_get", 4, out)
}

func TestRandom(t *testing.T) {
	g := newGuest(t, Config{})
	p := g.alloc(64)
	g.want(0, "random_get", p, 32)
	if bytes.Equal(g.mem[p:p+32], make([]byte, 32)) || !bytes.Equal(g.mem[p+32:p+64], make([]byte, 32)) {
		t.Errorf("random bytes %v", g.mem[p:p+64])
	}
	g.want(0, "random_get", uint64(len(g.mem)), 0)
	g.want(errnoFault, "random_get", uint64(len(g.mem)), 1)
	g.want(errnoFault, "random_get", 1<<32-1, 1<<32-1)
}

func TestProc(t *testing.T) {
	g := newGuest(t, Config{})
	for _, code := range []uint32{0, 1, 255, 1<<32 - 1} {
		_, err := g.callCtx(context.Background(), "proc_exit", uint64(code))
		var exit *ExitError
		if !errors.As(err, &exit) || exit.Code != code {
			t.Errorf("proc_exit(%d) ended with %v", code, err)
		}
	}
	g.want(errnoNoSys, "proc_raise", 6)
	g.want(0, "sched_yield")
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := g.callCtx(ctx, "sched_yield"); !errors.Is(err, context.Canceled) {
		t.Errorf("a cancelled sched_yield ended with %v", err)
	}
}

// TestFaults passes addresses at and beyond the end of the memory for every
// pointer; nothing may be done then.
func TestFaults(t *testing.T) {
	g, dir := newDirGuest(t, false)
	writeFile(t, dir, "f", "12345")
	fd := uint64(g.mustOpen("f", 0))
	top := uint64(len(g.mem))
	p, n, _ := g.vec(make([]byte, 5))
	ok := g.alloc(64)
	name, size := g.str("new")
	badVec := g.alloc(16)
	put32(g.mem[badVec:], uint32(ok))
	put32(g.mem[badVec+4:], 4)
	put32(g.mem[badVec+8:], uint32(top-3))
	put32(g.mem[badVec+12:], 4)
	hugeVec := g.alloc(8)
	put32(g.mem[hugeVec:], 1<<32-1)
	put32(g.mem[hugeVec+4:], 1<<32-1)
	for _, bad := range []uint64{top - 1, top, 1<<32 - 1} {
		g.want(errnoFault, "fd_read", fd, p, n, bad)
		g.want(errnoFault, "fd_read", fd, bad, 1, ok)
		g.want(errnoFault, "fd_write", fd, bad, 1, ok)
		g.want(errnoFault, "fd_pread", fd, bad, 1, 0, ok)
		g.want(errnoFault, "fd_fdstat_get", fd, bad)
		g.want(errnoFault, "fd_filestat_get", fd, bad)
		g.want(errnoFault, "fd_tell", fd, bad)
		g.want(errnoFault, "fd_seek", fd, 3, 0, bad)
		g.want(errnoFault, "fd_prestat_get", preopenFd, bad)
		g.want(errnoFault, "fd_prestat_dir_name", preopenFd, bad, 10)
		g.want(errnoFault, "fd_readdir", preopenFd, bad, 10, 0, ok)
		g.want(errnoFault, "path_create_directory", preopenFd, bad, 4)
		g.want(errnoFault, "path_filestat_get", preopenFd, 0, bad, 4, ok)
		g.want(errnoFault, "path_filestat_get", preopenFd, 0, name, size, bad)
		g.want(errnoFault, "path_open", preopenFd, 0, name, size, uint64(oflagCreat), uint64(readWrite), 0, 0, bad)
		g.want(errnoFault, "poll_oneoff", bad, ok, 1, ok)
		g.want(errnoFault, "poll_oneoff", ok, bad, 1, ok)
	}
	g.want(errnoFault, "fd_read", fd, badVec, 2, ok)
	g.want(errnoFault, "fd_read", fd, hugeVec, 1, ok)
	g.want(errnoInval, "fd_read", fd, p, maxVectors+1, ok)
	g.want(errnoInval, "fd_write", fd, 0, 1<<32-1, ok)
	g.want(0, "fd_read", fd, p, 0, ok)
	if pos, e := g.seek(uint32(fd), 0, 1); e != 0 || pos != 0 {
		t.Errorf("the position moved to %d, %v", pos, e)
	}
	if _, err := os.Stat(dir + "/new"); err == nil {
		t.Error("a file was made though its number had nowhere to go")
	}
	// Without a memory everything but the empty slice at 0 faults.
	g.mem = nil
	g.want(errnoFault, "random_get", 0, 1)
	g.want(0, "sched_yield")
}

func TestSignatures(t *testing.T) {
	if len(functions) != 46 {
		t.Errorf("%d functions", len(functions))
	}
	seen := map[string]bool{}
	for i := range functions {
		f := &functions[i]
		sig := f.signature()
		if seen[f.name] || len(sig.Params) != len(f.params) || (len(sig.Results) == 1) != (f.name != "proc_exit") {
			t.Errorf("%s: %d parameters, %d results, seen before: %v", f.name, len(sig.Params), len(sig.Results), seen[f.name])
		}
		seen[f.name] = true
	}
}

func TestErrnos(t *testing.T) {
	for e := errnoSuccess + 1; e < errnoNotCapable; e++ {
		if hostErrnos[e] == 0 {
			t.Errorf("%d has no host error", e)
		} else if got := toErrno(hostErrnos[e]); got != e {
			t.Errorf("%v is %d, not %d", hostErrnos[e], got, e)
		}
	}
	for err, want := range map[error]errno{
		unix.EHWPOISON:                         errnoIO,
		io.ErrUnexpectedEOF:                    errnoIO,
		os.ErrClosed:                           errnoBadF,
		&os.PathError{Err: unix.ENOENT}:        errnoNoEnt,
		errnoNotCapable:                        errnoNotCapable,
		os.NewSyscallError("x", unix.ENOTCONN): errnoNotConn,
	} {
		if got := toErrno(err); got != want {
			t.Errorf("%v is %v, want %v", err, got, want)
		}
	}
	// The numbers of the specification, at both ends and in the middle.
	if errno2Big != 1 || errnoNoEnt != 44 || errnoNotDir != 54 || errnoNotCapable != 76 {
		t.Error("the numbers have shifted")
	}
}

func TestSockets(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Skip(err)
	}
	defer l.Close()
	f, err := l.(*net.TCPListener).File()
	must(t, err)
	defer f.Close()
	g := newGuest(t, Config{Sockets: []*os.File{f}})
	const listener = 3
	out, size := g.alloc(4), g.alloc(4)
	g.want(0, "fd_fdstat_set_flags", listener, uint64(fdflagNonblock))
	g.want(errnoAgain, "sock_accept", listener, 0, out)
	g.want(0, "fd_fdstat_set_flags", listener, 0)
	g.want(errnoInval, "sock_accept", listener, uint64(fdflagAppend), out)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, err := g.callCtx(ctx, "sock_accept", listener, 0, out); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("a cancelled sock_accept ended with %v", err)
	}

	c, err := net.Dial("tcp", l.Addr().String())
	must(t, err)
	defer c.Close()
	g.want(0, "sock_accept", listener, 0, out)
	conn := get32(g.mem[out:])
	if conn != 4 {
		t.Errorf("the connection is %d", conn)
	}
	c.Write([]byte("hello"))
	p, n, at := g.vec(make([]byte, 2), make([]byte, 3))
	g.want(0, "sock_recv", uint64(conn), p, n, uint64(riRecvWaitall), size, out)
	if get32(g.mem[size:]) != 5 || string(g.mem[at[0]:][:2])+string(g.mem[at[1]:][:3]) != "hello" {
		t.Errorf("received %d bytes", get32(g.mem[size:]))
	}
	c.Write([]byte("again"))
	p, n, at = g.vec(make([]byte, 10))
	for _, flags := range []uint32{riRecvPeek, 0} {
		g.want(0, "sock_recv", uint64(conn), p, n, uint64(flags), size, out)
		if s := string(g.mem[at[0]:][:get32(g.mem[size:])]); s != "again" {
			t.Errorf("received %q", s)
		}
	}
	g.want(errnoInval, "sock_recv", uint64(conn), p, n, 4, size, out)
	p, n, _ = g.vec([]byte("an"), []byte("swer"))
	g.want(0, "sock_send", uint64(conn), p, n, 0, size)
	g.mustWrite(conn, "!")
	g.want(errnoInval, "sock_shutdown", uint64(conn), 4)
	g.want(0, "sock_shutdown", uint64(conn), uint64(sdWrite))
	if got, err := io.ReadAll(c); err != nil || string(got) != "answer!" {
		t.Errorf("the client got %q, %v", got, err)
	}
	c.Close()
	g.mustRead(conn, 10, "")
	g.close(conn)
}

func TestNotSocket(t *testing.T) {
	g, dir := newDirGuest(t, false)
	writeFile(t, dir, "f", "")
	fd := uint64(g.mustOpen("f", 0))
	out := g.alloc(8)
	for _, n := range []uint64{0, preopenFd, fd} {
		g.want(errnoNotSock, "sock_shutdown", n, 3)
		g.want(errnoNotSock, "sock_accept", n, 0, out)
		g.want(errnoNotSock, "sock_recv", n, 0, 0, 0, out, out)
		g.want(errnoNotSock, "sock_send", n, 0, 0, 0, out)
	}
	g.want(errnoBadF, "sock_shutdown", 99, 3)
	g.want(errnoBadF, "sock_accept", 99, 0, out)
}
