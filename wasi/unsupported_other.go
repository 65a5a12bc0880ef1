//go:build !linux

package wasi

import (
	"fmt"
	goruntime "runtime"

	"github.com/wasmjit/wasmjit/runtime"
)

// This file stands in for the package on systems whose files and clocks it
// doesn't know, so that programs build and say so.

// System is the WASI side of one guest; there is none on this system.
type System struct{}

// New fails: the functions are made of Linux's system calls.
func New(Config) (*System, error) {
	return nil, fmt.Errorf("wasi: running WASI programs needs Linux; this is %s", goruntime.GOOS)
}

// Imports returns no functions.
func (w *System) Imports(*runtime.Store) runtime.Imports { return nil }

// Close does nothing.
func (w *System) Close() error { return nil }
