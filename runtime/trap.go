package runtime

import (
	"encoding/binary"
	"fmt"
	"os"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
	"github.com/wasmjit/wasmjit/nativemodule"
)

// TrapKind is why WebAssembly code trapped.
type TrapKind uint8

// The kinds of traps. The numbers are liftoff's, which compiled positions
// carry.
const (
	TrapUnreachable          = TrapKind(liftoff.TrapUnreachable)
	TrapMemoryOutOfBounds    = TrapKind(liftoff.TrapMemoryOutOfBounds)
	TrapDivideByZero         = TrapKind(liftoff.TrapDivideByZero)
	TrapIntegerOverflow      = TrapKind(liftoff.TrapIntegerOverflow)
	TrapInvalidConversion    = TrapKind(liftoff.TrapInvalidConversion)
	TrapTableOutOfBounds     = TrapKind(liftoff.TrapTableOutOfBounds)
	TrapUndefinedElement     = TrapKind(liftoff.TrapUndefinedElement)
	TrapUninitializedElement = TrapKind(liftoff.TrapUninitializedElement)
	TrapIndirectTypeMismatch = TrapKind(liftoff.TrapIndirectTypeMismatch)
	TrapStackOverflow        = TrapKind(liftoff.TrapStackOverflow)
)

// The messages are those of the specification's test suite.
var trapNames = [...]string{
	TrapUnreachable:          "unreachable",
	TrapMemoryOutOfBounds:    "out of bounds memory access",
	TrapDivideByZero:         "integer divide by zero",
	TrapIntegerOverflow:      "integer overflow",
	TrapInvalidConversion:    "invalid conversion to integer",
	TrapTableOutOfBounds:     "out of bounds table access",
	TrapUndefinedElement:     "undefined element",
	TrapUninitializedElement: "uninitialized element",
	TrapIndirectTypeMismatch: "indirect call type mismatch",
	TrapStackOverflow:        "call stack exhausted",
}

func (k TrapKind) String() string {
	if int(k) < len(trapNames) && trapNames[k] != "" {
		return trapNames[k]
	}
	return fmt.Sprintf("trap %d", uint8(k))
}

// Frame is one active WebAssembly function at a trap.
type Frame struct {
	FuncIndex uint32
	FuncName  string // from the name section, else an export or import name, else ""
	// ModuleOffset is where in the module's bytes the function stands: the
	// opcode that trapped, or the call; the start of the body where that
	// isn't known (a stack overflow in a prologue).
	ModuleOffset uint32
	ModuleName   string // from the name section, else ""
}

func (f Frame) String() string {
	s := fmt.Sprintf("function %d", f.FuncIndex)
	if f.FuncName != "" {
		s += fmt.Sprintf(" (%s)", f.FuncName)
	}
	if f.ModuleName != "" {
		s += " of " + f.ModuleName
	}
	return fmt.Sprintf("%s at offset 0x%x", s, f.ModuleOffset)
}

// maxFrames bounds a backtrace.
const maxFrames = 100

// Trap is the error of WebAssembly code that trapped, or of an active segment
// that didn't fit at instantiation.
type Trap struct {
	Kind TrapKind
	// Frames are the active functions, innermost first, at most 100, of the
	// innermost call from Go; none for a segment.
	Frames []Frame
	// Cause says more where there is more to say, else nil.
	Cause error
}

// Error gives one line: the kind, the place, the cause.
func (t *Trap) Error() string {
	s := "trap: " + t.Kind.String()
	if len(t.Frames) > 0 {
		s += " in " + t.Frames[0].String()
	}
	if t.Cause != nil {
		s += ": " + t.Cause.Error()
	}
	return s
}

// Unwrap gives the cause.
func (t *Trap) Unwrap() error { return t.Cause }

// Backtrace lists the frames, one a line.
func (t *Trap) Backtrace() string {
	var b strings.Builder
	for n, f := range t.Frames {
		fmt.Fprintf(&b, "%4d: %s\n", n, f)
	}
	if len(t.Frames) == maxFrames {
		b.WriteString("      further frames left out\n")
	}
	return b.String()
}

// trap turns a fault into an error. A fault is a trap only if all of it fits:
// one of our trap instructions, or an access to a guest memory by code that
// relies on its guard, or to the guard of the stack. Anything else means that
// compiled code or this runtime is wrong, and the process, whose memory can't
// be trusted any more, ends.
func (a *guestCall) trap(f *nativeFault) error {
	kind, ok := a.classify(f)
	if !ok {
		die(f)
	}
	return &Trap{Kind: kind, Frames: a.frames(f)}
}

func (a *guestCall) classify(f *nativeFault) (TrapKind, bool) {
	if f.Kind == entryOverflow {
		return TrapStackOverflow, true
	}
	if f.Signal == sigSegv && a.thread.stack.inGuard(f.Addr) {
		return TrapStackOverflow, true
	}
	m, fn, off, ok := nativemodule.Lookup(f.PC)
	if !ok {
		return 0, false
	}
	p, ok := m.Position(fn, off)
	if !ok || p.Kind == liftoff.TrapNone {
		return 0, false
	}
	switch f.Signal {
	case sigIll:
		return TrapKind(p.Kind), true
	case sigSegv:
		// The memory must be the instance's: there is only memory 0, and a
		// register holds its base wherever it is accessed.
		guarded := m.Options().Liftoff.Bounds == liftoff.BoundsGuard
		base, ok := reservations.find(f.Addr)
		return TrapMemoryOutOfBounds, ok && guarded && p.Kind == liftoff.TrapMemoryOutOfBounds && base == f.memBase()
	}
	return 0, false
}

// frames lists the functions that were active at a fault.
func (a *guestCall) frames(f *nativeFault) []Frame {
	stack := a.thread.stack
	pcs := stack.backtrace(f.PC, f.FP, nil)
	atFault := f.Kind == hardwareFault
	if atFault && len(pcs) > 0 {
		if _, _, off, ok := nativemodule.Lookup(f.PC); ok && off == 0 {
			// A prologue overflowed before it linked its frame.
			if ret, ok := f.returnAddress(stack); ok {
				pcs = slices.Insert(pcs, 1, ret)
			}
		}
	}
	pcs = pcs[:min(len(pcs), maxFrames)]
	frames := make([]Frame, 0, len(pcs))
	for n, pc := range pcs {
		if frame, ok := frameOf(pc, n == 0 && atFault); ok {
			frames = append(frames, frame)
		}
	}
	return frames
}

// frameOf describes the function that pc lies in: a faulting instruction, or a
// return address. There is none for pc in a stub.
func frameOf(pc uintptr, fault bool) (Frame, bool) {
	back := uintptr(1)
	if fault {
		back = 0
	}
	// A return address may lie behind the end of its function.
	m, fn, off, ok := nativemodule.Lookup(pc - back)
	if !ok {
		return Frame{}, false
	}
	d := m.Decoded()
	frame := Frame{FuncIndex: fn, FuncName: d.FuncName(fn), ModuleName: moduleName(d), ModuleOffset: d.Bodies[fn-d.NumImportedFuncs].Start}
	position := m.CallPosition
	if fault {
		position = m.Position
	}
	if p, ok := position(fn, off+uint32(back)); ok {
		frame.ModuleOffset = p.Wasm
	}
	return frame, true
}

// moduleName reads the module's name, subsection 0 of the name section (spec
// 7.4.1), which comes first.
func moduleName(d *decoder.Module) string {
	for _, c := range d.Customs {
		b := d.Bytes[c.Start:c.End]
		if c.Name != "name" || len(b) == 0 || b[0] != 0 {
			continue
		}
		size, n := binary.Uvarint(b[1:])
		if n <= 0 || size > uint64(len(b)-1-n) {
			return ""
		}
		b = b[1+n : 1+n+int(size)]
		size, n = binary.Uvarint(b)
		if n <= 0 || size > uint64(len(b)-n) {
			return ""
		}
		if name := b[n : n+int(size)]; utf8.Valid(name) {
			return string(name)
		}
		return ""
	}
	return ""
}

// die ends the process after a fault that no guest can be allowed to cause.
func die(f *nativeFault) {
	fmt.Fprintf(os.Stderr, "wasmjit: internal fault in compiled code: %s\n", f)
	if m, fn, off, ok := nativemodule.Lookup(f.PC); ok {
		fmt.Fprintf(os.Stderr, "in function %d (%s), code offset 0x%x", fn, m.Decoded().FuncName(fn), off)
		if p, ok := m.Position(fn, off); ok {
			fmt.Fprintf(os.Stderr, ", module offset 0x%x, position kind %d", p.Wasm, p.Kind)
		}
		code := m.Code(fn)
		from, to := max(0, int(off)-16), min(len(code), int(off)+16)
		if from <= to {
			fmt.Fprintf(os.Stderr, "\ncode from offset 0x%x: % x", from, code[from:to])
		}
		fmt.Fprintln(os.Stderr)
	} else {
		fmt.Fprintln(os.Stderr, "outside every function")
	}
	os.Exit(2)
}
