//go:build linux && amd64

package runtime

type nativeStack struct{ ctx *ctxBlock }
type ctxBlock struct{}

func nativeInit() error                                                   { return nil }
func hostEntry() uintptr                                                  { return 0 }
func acquireStack(size int) (*nativeStack, error)                         { return nil, nil }
func (s *nativeStack) release()                                           {}
func (s *nativeStack) run(*nativeCall, exitHandler) (*nativeFault, error) { return nil, nil }
func (s *nativeStack) interrupt()                                         {}
func (s *nativeStack) clearInterrupt()                                    {}
func (s *nativeStack) inGuard(uintptr) bool                               { return false }
func (s *nativeStack) word(uintptr) (uint64, bool)                        { return 0, false }
func (s *nativeStack) backtrace(pc, fp uintptr, dst []uintptr) []uintptr  { return dst }
