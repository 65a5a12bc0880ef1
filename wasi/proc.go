//go:build linux

package wasi

import (
	"context"
	"runtime"
)

// procExit is proc_exit(code), the one function that doesn't return.
func (w *System) procExit(_ context.Context, _ memory, a []uint64) error {
	return &ExitError{Code: uint32(a[0])}
}

// procRaise is proc_raise(signal). A guest has no signal handlers, and its
// host must not be signalled: the function is answered as one that doesn't
// exist, for the C library to abort in its own way.
func (w *System) procRaise(context.Context, memory, []uint64) error {
	return errnoNoSys
}

// schedYield is sched_yield().
func (w *System) schedYield(ctx context.Context, _ memory, _ []uint64) error {
	runtime.Gosched()
	return ctx.Err()
}
