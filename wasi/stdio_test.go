//go:build linux

package wasi

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"strings"
	"testing"
	"time"
)

func pipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w, err := os.Pipe()
	must(t, err)
	t.Cleanup(func() { r.Close(); w.Close() })
	return r, w
}

// blockingPipe is a pipe as a shell makes it: in blocking mode.
func blockingPipe(t *testing.T) (r, w *os.File) {
	t.Helper()
	r, w = pipe(t)
	for _, f := range []*os.File{r, w} {
		rc, err := f.SyscallConn()
		must(t, err)
		must(t, rc.Control(func(fd uintptr) { err = setBlocking(int(fd)) }))
		must(t, err)
	}
	return r, w
}

func TestStdio(t *testing.T) {
	var out, errs bytes.Buffer
	g := newGuest(t, Config{Stdin: strings.NewReader("input text"), Stdout: &out, Stderr: &errs})
	g.mustRead(0, 5, "input")
	g.mustRead(0, 100, " text")
	g.mustRead(0, 100, "")
	g.mustWrite(1, "out")
	g.mustWrite(2, "err")
	if out.String() != "out" || errs.String() != "err" {
		t.Errorf("written %q and %q", out.String(), errs.String())
	}
	if _, e := g.write(0, "x"); e != errnoNotCapable {
		t.Errorf("writing to the input = %v", e)
	}
	if _, e := g.read(1, 1); e != errnoNotCapable {
		t.Errorf("reading from the output = %v", e)
	}
	if _, e := g.seek(0, 0, 0); e != errnoSPipe {
		t.Errorf("seeking in a stream = %v", e)
	}
	empty := newGuest(t, Config{})
	empty.mustRead(0, 10, "")
	empty.mustWrite(1, "nowhere")
}

func TestStdinFile(t *testing.T) {
	dir := t.TempDir()
	writeFile(t, dir, "f", "content")
	f, err := os.Open(dir + "/f")
	must(t, err)
	defer f.Close()
	g := newGuest(t, Config{Stdin: f})
	g.mustRead(0, 3, "con")
	if pos, e := g.seek(0, 1, 0); e != 0 || pos != 1 {
		t.Errorf("seek = %d, %v", pos, e)
	}
	g.mustRead(0, 100, "ontent")
	g.close(0)
	if _, err := f.Stat(); err != nil {
		t.Errorf("the guest closed the host's file: %v", err)
	}
}

func TestStdinPipe(t *testing.T) {
	for name, mk := range map[string]func(*testing.T) (*os.File, *os.File){"nonblocking": pipe, "blocking": blockingPipe} {
		t.Run(name, func(t *testing.T) {
			r, w := mk(t)
			g := newGuest(t, Config{Stdin: r})
			go func() {
				w.WriteString("one")
			}()
			g.mustRead(0, 100, "one")
			g.want(0, "fd_fdstat_set_flags", 0, uint64(fdflagNonblock))
			if _, e := g.read(0, 100); e != errnoAgain {
				t.Errorf("an empty pipe that shouldn't be waited for = %v", e)
			}
			g.want(0, "fd_fdstat_set_flags", 0, 0)
			w.WriteString("two")
			w.Close()
			g.mustRead(0, 2, "tw")
			g.mustRead(0, 2, "o")
			g.mustRead(0, 2, "")
		})
	}
}

// endless is a reader that never returns until the test is over.
type endless struct{ done chan struct{} }

func (e endless) Read([]byte) (int, error) { <-e.done; return 0, io.EOF }

func TestCancelRead(t *testing.T) {
	done := make(chan struct{})
	defer close(done)
	r, _ := pipe(t)
	b, _ := blockingPipe(t)
	for name, in := range map[string]io.Reader{"pipe": r, "blocking pipe": b, "reader": endless{done}} {
		t.Run(name, func(t *testing.T) {
			g := newGuest(t, Config{Stdin: in})
			ctx, cancel := context.WithCancel(context.Background())
			time.AfterFunc(20*time.Millisecond, cancel)
			if _, _, err := g.readCtx(ctx, 0, 10); !errors.Is(err, context.Canceled) {
				t.Errorf("a cancelled read ended with %v", err)
			}
			ctx, cancel = context.WithTimeout(context.Background(), 20*time.Millisecond)
			defer cancel()
			sub, out, n := g.alloc(48), g.alloc(32), g.alloc(4)
			g.mem[sub+8] = eventFdRead
			if _, err := g.callCtx(ctx, "poll_oneoff", sub, out, 1, n); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a cancelled poll_oneoff ended with %v", err)
			}
		})
	}
}

// TestCancelledReadKeepsInput: what a left-behind read brings is the next one's.
func TestCancelledReadKeepsInput(t *testing.T) {
	r, w := io.Pipe()
	g := newGuest(t, Config{Stdin: r})
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
	defer cancel()
	if _, _, err := g.readCtx(ctx, 0, 10); err == nil {
		t.Fatal("an empty pipe was read")
	}
	w.Write([]byte("kept"))
	g.mustRead(0, 10, "kept")
}

func TestStdoutPipe(t *testing.T) {
	for name, mk := range map[string]func(*testing.T) (*os.File, *os.File){"nonblocking": pipe, "blocking": blockingPipe} {
		t.Run(name, func(t *testing.T) {
			r, w := mk(t)
			g := newGuest(t, Config{Stdout: w})
			// More than a pipe holds: a write that may wait writes all.
			big := strings.Repeat("0123456789abcdef", 20_000)
			read := make(chan string)
			go func() {
				b := make([]byte, len(big))
				io.ReadFull(r, b)
				read <- string(b)
			}()
			g.mustWrite(1, big)
			if <-read != big {
				t.Error("the pipe brought something else")
			}
			// Nobody reads now.
			g.want(0, "fd_fdstat_set_flags", 1, uint64(fdflagNonblock))
			n, e := g.write(1, big)
			if e != 0 || n == 0 || n == len(big) {
				t.Errorf("a write that mustn't wait = %d, %v", n, e)
			}
			if _, e = g.write(1, big); e != errnoAgain {
				t.Errorf("a write to a full pipe = %v", e)
			}
			g.want(0, "fd_fdstat_set_flags", 1, 0)
			ctx, cancel := context.WithTimeout(context.Background(), 10*time.Millisecond)
			defer cancel()
			p, k, _ := g.vec([]byte(big))
			if _, err := g.callCtx(ctx, "fd_write", 1, p, k, g.alloc(4)); !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a cancelled write ended with %v", err)
			}
			r.Close()
			if _, e := g.write(1, "x"); e != errnoPipe {
				t.Errorf("a write without a reader = %v", e)
			}
		})
	}
}

// TestFIFO opens named pipes, which would block in the kernel.
func TestFIFO(t *testing.T) {
	g, dir := newDirGuest(t, false)
	mkfifo(t, dir+"/fifo")
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Millisecond)
	defer cancel()
	p, n := g.str("fifo")
	out := g.alloc(4)
	if _, err := g.callCtx(ctx, "path_open", preopenFd, 0, p, n, 0, uint64(rightFdWrite), 0, 0, out); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("opening a pipe without a reader ended with %v", err)
	}
	if _, e := g.open(preopenFd, "fifo", 0, 0, rightFdWrite, fdflagNonblock); e != errnoNXIO {
		t.Errorf("opening without waiting = %v", e)
	}
	in, e := g.open(preopenFd, "fifo", 0, 0, rightFdRead, 0)
	if e != 0 {
		t.Fatal(e)
	}
	outFd, e := g.open(preopenFd, "fifo", 0, 0, rightFdWrite, 0)
	if e != 0 {
		t.Fatal(e)
	}
	g.mustWrite(outFd, "through")
	g.mustRead(in, 100, "through")
	g.close(outFd)
	g.mustRead(in, 100, "")
}
