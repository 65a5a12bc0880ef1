//go:build !(linux && (amd64 || arm64))

package runtime

import (
	"fmt"
	goruntime "runtime"
)

// This file stands in for the native level on platforms that can't run
// compiled code yet, so that the packages above build and say so.

var errUnsupported = fmt.Errorf("running WebAssembly needs Linux on x86-64 or arm64; this is %s/%s", goruntime.GOOS, goruntime.GOARCH)

type nativeStack struct{}

func nativeInit() error { return errUnsupported }

func hostEntry() uintptr { return 0 }

func acquireStack(int) (*nativeStack, error) { return nil, errUnsupported }

func (s *nativeStack) release() {}

func (s *nativeStack) run(*nativeCall, exitHandler) (*nativeFault, error) {
	return nil, errUnsupported
}

func (s *nativeStack) interrupt() {}

func (s *nativeStack) clearInterrupt() {}

func (s *nativeStack) inGuard(uintptr) bool { return false }

func (s *nativeStack) word(uintptr) (uint64, bool) { return 0, false }

func (s *nativeStack) backtrace(_, _ uintptr, dst []uintptr) []uintptr { return dst }
