// Package engine is the seam between the test harnesses and what they test:
// the compiler with its runtime, or the reference interpreter. Both sides of
// a differential test, and the specification's scripts, run over it.
package engine

import (
	"fmt"

	"github.com/wasmjit/wasmjit/decoder"
)

// Engine compiles and runs modules that live in one store.
type Engine interface {
	// Name names the engine in test output.
	Name() string
	// Compile decodes, validates and compiles a whole module. Its error is a
	// *Failure of stage Malformed, Invalid, Unsupported or Broken.
	Compile(bin []byte) (Module, error)
	// Host makes the exports of a module written in Go.
	Host(h *HostModule) (Exporter, error)
	// Instantiate links and starts a module. Its error is a *Failure.
	Instantiate(m Module, imports Resolver) (Instance, error)
	// ExternRef gives the bits of an external reference to number n, and
	// ExternValue the way back; ok is false for anything else.
	ExternRef(n uint64) uint64
	ExternValue(ref uint64) (n uint64, ok bool)
	Close() error
}

// Module is a compiled module of one engine.
type Module interface {
	Close() error
}

// Extern is an exported entity; only its own engine can look into it.
type Extern any

// Exporter gives exports by name, nil where there is none.
type Exporter interface {
	Export(name string) Extern
}

// Resolver finds what a module imports, nil where there is nothing.
type Resolver func(module, name string) Extern

// Instance is an instantiated module.
type Instance interface {
	Exporter
	// Func gives an exported function, nil where there is none.
	Func(name string) Func
	// Global reads an exported global.
	Global(name string) (Value, bool)
	// Memory gives the bytes of an exported memory, nil where there is none.
	Memory(name string) []byte
}

// Func is a callable function.
type Func interface {
	Type() *decoder.FuncType
	// Call passes and returns one uint64 per value and two, low half first,
	// per v128. Its error is a *Failure.
	Call(args ...uint64) ([]uint64, error)
}

// Value is a typed value; Hi is the upper half of a v128.
type Value struct {
	Type   decoder.Type
	Lo, Hi uint64
}

// HostModule describes a module written in Go.
type HostModule struct {
	Funcs    map[string]HostFunc
	Globals  map[string]HostGlobal
	Tables   map[string]decoder.TableType
	Memories map[string]decoder.MemoryType
}

// HostFunc is a function written in Go: parameters come in stack, results go
// to its beginning.
type HostFunc struct {
	Type decoder.FuncType
	Fn   func(stack []uint64) error
}

// HostGlobal is a global with its first value.
type HostGlobal struct {
	Type decoder.GlobalType
	Bits uint64
}

// Stage says how far a module or call got.
type Stage uint8

// Stages of a Failure.
const (
	Malformed   Stage = iota + 1 // the bytes are not a module
	Invalid                      // the module breaks a validation rule
	Unsupported                  // it needs a proposal that is not implemented
	Unlinkable                   // an import is missing or has another type
	Trapped                      // a trap other than exhaustion
	Exhausted                    // the call stack ran out
	Exception                    // an exception nobody caught
	Broken                       // anything else: always a bug
)

func (s Stage) String() string {
	names := [...]string{"", "malformed", "invalid", "unsupported", "unlinkable", "trap", "exhaustion", "exception", "broken"}
	if int(s) < len(names) {
		return names[s]
	}
	return fmt.Sprintf("stage %d", uint8(s))
}

// Failure is the error of an engine.
type Failure struct {
	Stage Stage
	// Feature names the proposal of an Unsupported failure.
	Feature string
	// Msg is the trap's name in the specification's words, or the engine's
	// own error line.
	Msg string
	// Err is the engine's own error, if it has one.
	Err error
}

func (f *Failure) Error() string { return f.Stage.String() + ": " + f.Msg }

// Unwrap gives the engine's own error.
func (f *Failure) Unwrap() error { return f.Err }
