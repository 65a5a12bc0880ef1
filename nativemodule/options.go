package nativemodule

import (
	"errors"
	"fmt"
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
	Workers int
	// Protection is how the code is protected; the module's Options have what
	// codemem.Auto came to.
	Protection codemem.Mode
	// Publish is how functions find one another; the module's Options have
	// what PublishAuto came to.
	Publish Publish
	// Live makes a module whose functions can be replaced, by a Patcher. It
	// needs slots and a mode that is Patchable.
	Live bool
	// BatchUnits, if positive, is how many functions a worker gathers before
	// it publishes them through slots; else V8's rule decides.
	BatchUnits int
	// Progress, if set, is called now and then with the body bytes compiled
	// so far, from one goroutine at a time and never after Compile returns.
	// A successful compile ends with done == total.
	Progress func(done, total int)
	// TraceTimes, if set, is called once per function in index order, after
	// all are compiled, by the goroutine that called Compile.
	TraceTimes func(FuncTime)
	// Unlinked, if set, is called once per function in index order, after all
	// are compiled and before calls are linked, by the goroutine that called
	// Compile: with a copy of the code, which depends on the module and
	// Liftoff alone. Slots link code as it comes, so they don't go with it.
	Unlinked func(fn uint32, code []byte)
	// PhaseDone, if set, is called at the end of each phase ("compile",
	// "link", "publish") by the goroutine that called Compile, so that a
	// caller can read counters of its own there.
	PhaseDone func(phase string)
	// Step, if set, is called by a goroutine that begins work for one phase
	// while another is on: "publish" for a batch. The same goroutine calls the
	// function it returns when that is done.
	Step func(phase string) (end func())
	// Arena is where the code goes; nil means codemem.Default.
	Arena *codemem.Arena
	// MaxCodeBytes, if positive, limits the code memory of the module; a
	// module that needs more fails with a *codemem.FullError.
	MaxCodeBytes int64
}

// Publish says how functions find one another.
type Publish uint8

const (
	// PublishAuto is slots for live modules and in codemem's comparison
	// modes, linked else.
	PublishAuto Publish = iota
	// PublishLinked resolves direct calls once, after all code is placed.
	PublishLinked
	// PublishSlots sends every call through a slot of a jump table.
	PublishSlots
)

// String gives the name that ParsePublish reads.
func (p Publish) String() string {
	return [...]string{"auto", "linked", "slots"}[min(p, PublishSlots)]
}

// ParsePublish gives the value of a name.
func ParsePublish(name string) (Publish, error) {
	for p := PublishAuto; p <= PublishSlots; p++ {
		if p.String() == name {
			return p, nil
		}
	}
	return PublishAuto, fmt.Errorf("unknown way to publish code %q; use linked or slots", name)
}

// Check reports what of the options doesn't go together.
func (o Options) Check() error { return o.resolve() }

// resolve settles Publish, or tells what doesn't go together.
func (o *Options) resolve() error {
	slots := o.Live || !o.Protection.Linkable()
	switch {
	case o.Publish == PublishLinked && o.Live:
		return errors.New("linked code can't be replaced; publish it through slots")
	case o.Publish == PublishLinked && slots:
		return fmt.Errorf("code protection mode %s publishes code through slots and can't link it", o.Protection)
	case o.Live && !o.Protection.Patchable():
		return &codemem.ModeError{Name: o.Protection.String(), Reason: "code that was published in it can't be replaced; use dual"}
	case (slots || o.Publish == PublishSlots) && !executable(o.Liftoff.Arch):
		return errors.New("code for another machine is linked; it has no slots")
	case (slots || o.Publish == PublishSlots) && o.Unlinked != nil:
		return errors.New("code published through slots is never unlinked; publish it linked")
	case slots:
		o.Publish = PublishSlots
	case o.Publish == PublishAuto:
		o.Publish = PublishLinked
	}
	return nil
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

// executable reports whether code for a can run in this process.
func executable(a liftoff.Arch) bool {
	arch := "amd64"
	if a == liftoff.ARM64 {
		arch = "arm64"
	}
	return runtime.GOOS == "linux" && runtime.GOARCH == arch
}
