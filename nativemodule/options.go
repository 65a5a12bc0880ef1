package nativemodule

import (
	"runtime"
	"time"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/liftoff"
)

// Options say how to compile a module.
type Options struct {
	// Liftoff decides the code. With an architecture other than the host's
	// the module is compiled to be looked at: never executable, not in the
	// index that Lookup searches.
	Liftoff liftoff.Options
	// Workers is the most goroutines to compile with; 0 means GOMAXPROCS.
	Workers    int
	Protection codemem.Mode
	// Progress, if set, is called now and then with the body bytes compiled
	// so far, from one goroutine at a time and never after Compile returns.
	// A successful compile ends with done == total.
	Progress func(done, total int)
	// TraceTimes, if set, is called once per function in index order, after
	// all are compiled, by the goroutine that called Compile.
	TraceTimes func(FuncTime)
	// PhaseDone, if set, is called at the end of each phase ("compile",
	// "link", "publish") by the goroutine that called Compile, so that a
	// caller can read counters of its own there.
	PhaseDone func(phase string)
	// Arena is where the code goes; nil means codemem.Default.
	Arena *codemem.Arena
	// MaxCodeBytes, if positive, limits the code memory of the module; a
	// module that needs more fails with a *codemem.FullError.
	MaxCodeBytes int64
}

// FuncTime is what one function cost.
type FuncTime struct {
	Func      uint32 // index in the function index space
	Time      time.Duration
	BodyBytes int
	CodeBytes int
	// CompilerBytes is the memory that the worker's compiler held after the
	// function, in bytes, or -1 where the compiler doesn't tell.
	CompilerBytes int64
}

// compiler is what the job needs of *liftoff.Compiler.
type compiler interface {
	Compile(fn uint32) (*liftoff.Code, error)
	CompilePositions(fn uint32) (*liftoff.Code, error)
}

// sized is what a compiler implements that can tell its memory in bytes.
type sized interface{ MemoryBytes() int64 }

// newCompiler makes a compiler for one worker; tests bring their own.
type newCompiler func() (compiler, error)

// executable reports whether code for a can run in this process. Code for
// arm64 can't yet: publishing it takes instruction cache maintenance.
func executable(a liftoff.Arch) bool {
	return a == liftoff.AMD64 && runtime.GOOS == "linux" && runtime.GOARCH == "amd64"
}
