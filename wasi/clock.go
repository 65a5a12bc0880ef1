//go:build linux

package wasi

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// Clocks (witx type clockid).
const (
	clockRealtime uint32 = iota
	clockMonotonic
	clockProcessCPU
	clockThreadCPU
)

// hostClock reads the host's clocks. The monotonic one goes through Go's
// time package, which needs no system call.
type hostClock struct {
	base  uint64 // CLOCK_MONOTONIC at begin
	begin time.Time
	cpu   uint64 // CPU time of the process at begin
}

func (c *hostClock) start() {
	c.base, c.begin = clockNow(unix.CLOCK_MONOTONIC), time.Now()
	c.cpu = clockNow(unix.CLOCK_PROCESS_CPUTIME_ID)
}

// clockNow reads a clock in nanoseconds; the clocks asked for exist on every Linux.
func clockNow(id int32) uint64 {
	var ts unix.Timespec
	if unix.ClockGettime(id, &ts) != nil {
		return 0
	}
	return uint64(ts.Nano())
}

// now returns the time of clock id in nanoseconds.
func (w *System) now(id uint32) (uint64, error) {
	switch id {
	case clockRealtime:
		if w.virtual != nil {
			return w.virtual.Realtime(), nil
		}
		return uint64(time.Now().UnixNano()), nil
	case clockMonotonic:
		if w.virtual != nil {
			return w.virtual.Monotonic(), nil
		}
		return w.clock.base + uint64(time.Since(w.clock.begin)), nil
	case clockProcessCPU, clockThreadCPU:
		if w.virtual != nil {
			return w.virtual.Monotonic(), nil
		}
		return clockNow(unix.CLOCK_PROCESS_CPUTIME_ID) - w.clock.cpu, nil
	}
	return 0, errnoInval
}

// clockTimeGet is clock_time_get(id, precision, *time). Linux has no use for
// the precision.
func (w *System) clockTimeGet(_ context.Context, m memory, a []uint64) error {
	t, err := w.now(uint32(a[0]))
	if err != nil {
		return err
	}
	out, err := m.slice(uint32(a[2]), 8)
	if err != nil {
		return err
	}
	put64(out, t)
	return nil
}

// clockResGet is clock_res_get(id, *resolution).
func (w *System) clockResGet(_ context.Context, m memory, a []uint64) error {
	id := uint32(a[0])
	if id > clockThreadCPU {
		return errnoInval
	}
	host := [...]int32{unix.CLOCK_REALTIME, unix.CLOCK_MONOTONIC, unix.CLOCK_PROCESS_CPUTIME_ID, unix.CLOCK_PROCESS_CPUTIME_ID}[id]
	res := uint64(1)
	if w.virtual == nil {
		var ts unix.Timespec
		if err := unix.ClockGetres(host, &ts); err != nil {
			return err
		}
		res = max(uint64(ts.Nano()), 1)
	}
	out, err := m.slice(uint32(a[1]), 8)
	if err != nil {
		return err
	}
	put64(out, res)
	return nil
}

// sleep waits for d on the clock that the guest sees.
func (w *System) sleep(ctx context.Context, d time.Duration) error {
	if w.virtual != nil {
		return w.virtual.Sleep(ctx, d)
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
