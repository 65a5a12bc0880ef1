package nativemodule

import (
	"fmt"

	"github.com/wasmjit/wasmjit/decoder"
)

// InternalError reports a fault of the compiler, not of its input.
type InternalError struct {
	Func     uint32 // index in the function index space
	FuncName string // "" if it has none
	Offset   uint32 // module offset where the function's body starts
	Cause    any    // what was panicked with, or an error
	Stack    []byte // goroutine trace of the panic
}

// Error words it as the decoder words its errors.
func (e *InternalError) Error() string {
	return (&decoder.Error{
		Offset:   int64(e.Offset),
		Func:     int64(e.Func),
		FuncName: e.FuncName,
		Msg:      fmt.Sprintf("internal compiler error: %v", e.Cause),
	}).Error()
}

// Unwrap gives the cause if it is an error.
func (e *InternalError) Unwrap() error {
	err, _ := e.Cause.(error)
	return err
}

// LinkError reports a direct call that can't be linked: a fault of the
// compiler, or code too far apart for the target's calls.
type LinkError struct {
	Caller, Callee uint32 // function indices
	Offset         uint32 // of the call site in the caller's code
	Reason         string
}

func (e *LinkError) Error() string {
	return fmt.Sprintf("function %d: call of function %d at code offset %#x: %s", e.Caller, e.Callee, e.Offset, e.Reason)
}
