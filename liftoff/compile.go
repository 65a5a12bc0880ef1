package liftoff

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"unsafe"

	"github.com/wasmjit/wasmjit/decoder"
)

// fail is the position that class functions return when validation fails; it
// ends the walk. The careful validator then words the error.
const fail = decoder.Malformed

// maxFrame bounds a function's frame in bytes, well within rel32 addressing.
const maxFrame = 1 << 30

// Compiler compiles the functions of one module, one at a time. All its
// buffers are reused from function to function: once they have grown, a
// compile allocates nothing.
type Compiler struct {
	v decoder.Validator
	masm
	regs

	m    *decoder.Module
	l    *Layout
	sigs []signature // per type
	o    Options
	base unsafe.Pointer

	// The function being compiled.
	at        int    // position in the module of the opcode being compiled
	bodyStart uint32 // position of its first opcode
	results   []decoder.Type
	sig       *signature
	record    bool // positions are wanted

	locals []local
	// zeroed are the locals that the prologue zeroes, and initialized those that
	// a write covers, in the order of the writes; see zero.go.
	zeroed, initialized []uint32

	labels []label // parallel to v.Ctl
	// flushed is a height below which every operand is in its home slot or a
	// constant.
	flushed int

	// The frame.
	operandBase    int32 // home slots of operands are below this frame offset
	slotSize       int32
	pinsGP, pinsFP int
	maxHeight      int // operand home slots in use
	maxOut         int // outgoing stack cells in use

	traps     []trapSite
	callSites []uint32
	positions []Position
	stubs     []tableStub
	moves     parallelMove
	hints     hints
	loopStart int // position of the outermost open loop
	loopDepth int // open loops
	code      Code

	written uint64 // see WrittenTables; of all functions so far
}

func newCompiler(m *decoder.Module, l *Layout, o Options) (*Compiler, error) {
	if o.Arch != AMD64 && o.Arch != ARM64 {
		return nil, errors.New("there is no such target architecture")
	}
	c := &Compiler{m: m, l: l, o: o, slotSize: 8, sigs: newSignatures(m.Types)}
	c.arm = o.Arch == ARM64
	c.v.Mod = m
	c.base = unsafe.Pointer(unsafe.SliceData(m.Bytes))
	c.allocatable = callerGP | extraGP[o.Arch] | callerFP
	if o.FewRegisters {
		c.allocatable = fewGP | fewFP
	}
	return c, nil
}

// Compile validates and compiles function fn, an index in the function index
// space that is not an import. An invalid body gives a *decoder.Error.
func (c *Compiler) Compile(fn uint32) (*Code, error) { return c.compile(fn, false) }

// CompilePositions does the same and records positions: a function's code
// depends on nothing but the module and the options, so positions are made
// when they are asked for and not kept.
func (c *Compiler) CompilePositions(fn uint32) (*Code, error) { return c.compile(fn, true) }

func (c *Compiler) compile(fn uint32, record bool) (code *Code, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = c.internalError(fn, r)
		}
	}()
	c.record = record
	code, err = c.attempt(fn, false)
	if c.arm && err == nil && c.a.TooFar() {
		// A conditional branch didn't reach its label: all take two
		// instructions now.
		code, err = c.attempt(fn, true)
		if c.a.TooFar() {
			return nil, c.internalError(fn, "a branch is out of reach")
		}
	}
	return code, err
}

// attempt compiles fn once; far is the form of arm64's branches.
func (c *Compiler) attempt(fn uint32, far bool) (*Code, error) {
	pc, ok := c.v.Begin(fn)
	if ok {
		c.begin(fn, pc, far)
		pc = c.walk(pc)
	}
	if !ok || pc != c.v.End || c.v.D != 0 {
		if err := c.m.ValidateBody(fn); err != nil {
			return nil, err
		}
		return nil, c.internalError(fn, "a valid function was rejected")
	}
	if c.maxHeight > maxFrame/16 || c.maxOut > maxFrame/32 || len(c.locals) > maxFrame/64 {
		return nil, c.internalError(fn, "the frame is too large")
	}
	start := c.prologue()
	c.coldTraps()
	return c.finish(start), nil
}

// begin resets the state for function fn, assigns homes and registers to its
// locals and emits what goes before its first opcode at pc.
func (c *Compiler) begin(fn uint32, pc int, far bool) {
	typ := c.m.Funcs[fn]
	ft := &c.m.Types[typ]
	c.sig = &c.sigs[typ]
	c.results = ft.Results
	c.bodyStart = uint32(pc)
	c.at = pc
	c.reset(far)
	c.locked, c.cache, c.dirty, c.free = 0, 0, 0, c.allocatable
	c.uses = [32]uint32{}
	c.flushed, c.maxHeight, c.maxOut = 0, 0, 0
	c.flagsLive = false
	c.loopDepth = 0
	c.hints.whole = false
	c.zeroed, c.initialized = c.zeroed[:0], c.initialized[:0]
	c.traps, c.callSites, c.positions = c.traps[:0], c.callSites[:0], c.positions[:0]
	// A function that failed inside a br_table leaves some.
	c.stubs = c.stubs[:0]

	if len(c.labels) == 0 {
		c.labels = make([]label, 64)
	}
	c.labels[0] = label{}
	c.placeLocals(pc)
}

// finish assembles the Code of the function that starts at start.
func (c *Compiler) finish(start int) *Code {
	for i := range c.callSites {
		c.callSites[i] -= uint32(start)
	}
	if c.record {
		for i := range c.positions {
			c.positions[i].Code -= uint32(start)
		}
		slices.SortFunc(c.positions, func(a, b Position) int { return cmp.Compare(a.Code, b.Code) })
	}
	c.code = Code{Bytes: c.codeFrom(start), CallSites: c.callSites, Positions: c.positions}
	return &c.code
}

// InternalError is a fault of the compiler itself. It names the place, so that
// the function can be reproduced.
type InternalError struct {
	Func   uint32
	Name   string
	Offset int    // in the module
	Op     string // opcode there
	Cause  any
}

func (e *InternalError) Error() string {
	name := ""
	if e.Name != "" {
		name = " (" + e.Name + ")"
	}
	return fmt.Sprintf("internal error in function %d%s at offset 0x%x (%s): %v", e.Func, name, e.Offset, e.Op, e.Cause)
}

func (c *Compiler) internalError(fn uint32, cause any) error {
	e := &InternalError{Func: fn, Name: c.m.FuncName(fn), Offset: c.at, Cause: cause}
	e.Op = c.m.OpNameAt(c.at)
	return e
}
