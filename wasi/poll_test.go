//go:build linux

package wasi

import (
	"bytes"
	"context"
	"io"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

func setBlocking(fd int) error      { return unix.SetNonblock(fd, false) }
func mkfifo(t *testing.T, p string) { t.Helper(); must(t, unix.Mkfifo(p, 0o666)) }

type event struct {
	userdata uint64
	err      errno
	kind     uint8
	nbytes   uint64
	flags    uint16
}

// clockSub writes a subscription to a clock in preview 1's layout.
func clockSub(userdata uint64, id uint32, timeout time.Duration, flags uint16) []byte {
	b := make([]byte, 48)
	put64(b, userdata)
	put32(b[16:], id)
	put64(b[24:], uint64(timeout))
	put16(b[40:], flags)
	return b
}

func fdSub(userdata uint64, kind uint8, fd uint32) []byte {
	b := make([]byte, 48)
	put64(b, userdata)
	b[8] = kind
	put32(b[16:], fd)
	return b
}

func (g *guest) poll(subs ...[]byte) []event {
	g.t.Helper()
	in := g.put(bytes.Join(subs, nil))
	out, n := g.alloc(32*len(subs)), g.alloc(4)
	g.want(0, "poll_oneoff", in, out, uint64(len(subs)), n)
	events := make([]event, get32(g.mem[n:]))
	for i := range events {
		b := g.mem[out+uint64(i)*32:]
		events[i] = event{get64(b), errno(get16(b[8:])), b[10], get64(b[16:]), get16(b[24:])}
	}
	return events
}

func (g *guest) wantEvents(subs [][]byte, want ...event) {
	g.t.Helper()
	got := g.poll(subs...)
	if len(got) != len(want) {
		g.t.Fatalf("events %+v, want %+v", got, want)
	}
	for i := range want {
		if got[i] != want[i] {
			g.t.Errorf("event %+v, want %+v", got[i], want[i])
		}
	}
}

func TestPollClocks(t *testing.T) {
	g := newGuest(t, Config{})
	begin := time.Now()
	g.wantEvents([][]byte{clockSub(1, clockMonotonic, time.Hour, 0), clockSub(2, clockMonotonic, 15*time.Millisecond, 0)},
		event{userdata: 2})
	if d := time.Since(begin); d < 15*time.Millisecond {
		t.Errorf("it slept for %v only", d)
	}
	g.wantEvents([][]byte{clockSub(3, clockRealtime, 0, 0)}, event{userdata: 3})
	past, err := g.sys.now(clockMonotonic)
	must(t, err)
	g.wantEvents([][]byte{clockSub(4, clockMonotonic, time.Duration(past), subClockAbstime)}, event{userdata: 4})
	real, err := g.sys.now(clockRealtime)
	must(t, err)
	g.wantEvents([][]byte{clockSub(5, clockRealtime, time.Duration(real)+10*time.Millisecond, subClockAbstime)}, event{userdata: 5})
	if now, _ := g.sys.now(clockRealtime); now < real+10e6 {
		t.Errorf("the alarm rang %v too early", time.Duration(real+10e6-now))
	}
	// What can't be waited for is told at once, beside the endless one.
	g.wantEvents([][]byte{
		clockSub(6, 9, 0, 0), clockSub(7, clockThreadCPU, 0, 0), clockSub(8, clockMonotonic, time.Hour, 2),
		clockSub(9, clockMonotonic, -1, 0), fdSub(10, 3, 0), fdSub(11, eventFdRead, 77), fdSub(12, eventFdWrite, 0),
	},
		event{userdata: 6, err: errnoInval}, event{userdata: 7, err: errnoNotSup}, event{userdata: 8, err: errnoInval},
		event{userdata: 10, err: errnoInval, kind: 3}, event{userdata: 11, err: errnoBadF, kind: eventFdRead},
		event{userdata: 12, err: errnoNotCapable, kind: eventFdWrite})
	g.want(errnoInval, "poll_oneoff", 16, 16, 0, 16)
	g.want(errnoInval, "poll_oneoff", 16, 16, maxSubscriptions+1, 16)
	g.want(errnoFault, "poll_oneoff", 16, 16, 60_000, 16)
}

func TestPollFiles(t *testing.T) {
	r, w := pipe(t)
	dir := t.TempDir()
	writeFile(t, dir, "f", "12345")
	g := newGuest(t, Config{Stdin: r, Stdout: w, Preopens: []Preopen{{Host: dir, Guest: "/"}}})
	// Nothing to read: the clock it is.
	g.wantEvents([][]byte{fdSub(1, eventFdRead, 0), clockSub(2, clockMonotonic, time.Millisecond, 0)}, event{userdata: 2})
	g.wantEvents([][]byte{fdSub(1, eventFdRead, 0), fdSub(2, eventFdWrite, 1)}, event{userdata: 2, kind: eventFdWrite, nbytes: pipeBuf})
	go w.WriteString("abc")
	g.wantEvents([][]byte{fdSub(1, eventFdRead, 0), clockSub(2, clockMonotonic, time.Hour, 0)},
		event{userdata: 1, kind: eventFdRead, nbytes: 3})
	g.mustRead(0, 3, "abc")
	fd := g.mustOpen("f", 0)
	if _, e := g.seek(fd, 2, 0); e != 0 {
		t.Fatal(e)
	}
	g.wantEvents([][]byte{fdSub(1, eventFdRead, fd), fdSub(2, eventFdWrite, fd), fdSub(3, eventFdRead, 0)},
		event{userdata: 1, kind: eventFdRead, nbytes: 3}, event{userdata: 2, kind: eventFdWrite, nbytes: pipeBuf})
	g.close(1)
	w.Close()
	g.wantEvents([][]byte{fdSub(1, eventFdRead, 0)}, event{userdata: 1, kind: eventFdRead, flags: eventHangup})
}

func TestPollStream(t *testing.T) {
	r, w := io.Pipe()
	g := newGuest(t, Config{Stdin: r})
	g.wantEvents([][]byte{fdSub(1, eventFdRead, 0), clockSub(2, clockMonotonic, time.Millisecond, 0)}, event{userdata: 2})
	go w.Write([]byte("abc"))
	g.wantEvents([][]byte{clockSub(2, clockMonotonic, time.Hour, 0), fdSub(1, eventFdRead, 0)},
		event{userdata: 1, kind: eventFdRead, nbytes: 3})
	g.mustRead(0, 2, "ab")
	g.wantEvents([][]byte{fdSub(1, eventFdRead, 0)}, event{userdata: 1, kind: eventFdRead, nbytes: 1})
	// A stream and a pipe together.
	p, pw := pipe(t)
	g2 := newGuest(t, Config{Stdin: p, Stdout: io.Discard})
	pw.WriteString("x")
	g2.wantEvents([][]byte{fdSub(1, eventFdWrite, 1), fdSub(2, eventFdRead, 0)},
		event{userdata: 1, kind: eventFdWrite, nbytes: pipeBuf}, event{userdata: 2, kind: eventFdRead, nbytes: 1})
}

func TestPollUnstable(t *testing.T) {
	g := newGuest(t, Config{Stdin: strings.NewReader("")})
	// The clock's own identifier comes first there, so its fields lie 8 bytes on.
	sub := make([]byte, 56)
	put64(sub, 42)
	put32(sub[24:], clockMonotonic)
	put64(sub[32:], uint64(time.Millisecond))
	in, out, n := g.put(sub), g.alloc(32), g.alloc(4)
	stack := []uint64{in, out, 1, n}
	if err := g.sys.call(t.Context(), (*System).pollOneoffUnstable, g.mem, stack); err != nil || stack[0] != 0 {
		t.Fatal(err, stack[0])
	}
	if get32(g.mem[n:]) != 1 || get64(g.mem[out:]) != 42 || g.mem[out+10] != eventClock || get16(g.mem[out+8:]) != 0 {
		t.Errorf("event %v", g.mem[out:out+32])
	}
}

// fixedClock is a Clock whose time passes in sleeps only.
type fixedClock struct{ now uint64 }

func (c *fixedClock) Realtime() uint64  { return 1e18 + c.now }
func (c *fixedClock) Monotonic() uint64 { return c.now }
func (c *fixedClock) Sleep(_ context.Context, d time.Duration) error {
	c.now += uint64(d)
	return nil
}

func TestVirtualClock(t *testing.T) {
	r, _ := pipe(t)
	g := newGuest(t, Config{Stdin: r, Clock: &fixedClock{}, Random: bytes.NewReader([]byte("12345678"))})
	out := g.alloc(8)
	time := func(id uint64) uint64 { g.want(0, "clock_time_get", id, 0, out); return get64(g.mem[out:]) }
	if a, b := time(0), time(0); a != 1e18 || b != a {
		t.Errorf("realtime %d, then %d", a, b)
	}
	g.wantEvents([][]byte{clockSub(1, clockMonotonic, 1e18, 0), clockSub(2, clockMonotonic, 3600e9, 0)}, event{userdata: 2})
	g.wantEvents([][]byte{fdSub(3, eventFdRead, 0), clockSub(4, clockMonotonic, 3600e9, 0)}, event{userdata: 4})
	if m := time(1); m != 7200e9 {
		t.Errorf("%d passed", m)
	}
	g.want(0, "random_get", out, 8)
	if s := string(g.mem[out:][:8]); s != "12345678" {
		t.Errorf("random %q", s)
	}
	g.want(errnoIO, "random_get", out, 8)
}
