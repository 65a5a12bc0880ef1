package liftoff

import (
	"slices"

	"github.com/wasmjit/wasmjit/decoder"
)

// label is the compiler's part of a control frame; decoder.Control is
// validation's.
type label struct {
	target jumpLabel // end of a block or if; start of a loop
	orElse jumpLabel // of an if: where the condition is false
	// reached is set when a branch to a forward label was emitted.
	reached bool
	// stub is 1 + the index in Compiler.stubs of the stub that the br_table
	// being compiled made for this label, 0 for none.
	stub uint32
	// initialized is the length of Compiler.initialized at its start.
	initialized int
}

// enter pushes a control frame whose parameters are the top operands.
func (c *Compiler) enter(op byte, sig decoder.BlockType) *label {
	c.v.PushControl(op, sig, c.at)
	d := c.v.D - 1
	if d == len(c.labels) {
		c.labels = append(c.labels, label{})
		c.labels = c.labels[:cap(c.labels)]
	}
	l := &c.labels[d]
	*l = label{initialized: len(c.initialized)}
	return l
}

// blockStart reads the block type at pc, checks the parameters and brings
// every operand below them into its canonical place.
func (c *Compiler) blockStart(pc int) (decoder.BlockType, int, int) {
	sig, next := c.v.BlockSig(pc)
	if next >= fail {
		return sig, 0, fail
	}
	n := 0
	if sig < decoder.BlockEmpty {
		params := c.m.BlockParams(sig)
		n = len(params)
		if !c.v.CheckTop(params) {
			return sig, 0, fail
		}
	}
	if c.flushed < c.v.H-n {
		c.reserveFor(c.v.H - c.flushed)
		c.flushOperands(c.v.H - n)
	}
	return sig, n, next
}

// block compiles a block.
func (c *Compiler) block(pc int) int {
	sig, _, pc := c.blockStart(pc)
	if pc >= fail {
		return fail
	}
	c.enter(decoder.OpBlock, sig)
	return pc
}

// loop compiles the head of a loop, a label that branches reach from below.
func (c *Compiler) loop(pc int) int {
	sig, n, pc := c.blockStart(pc)
	if pc >= fail {
		return fail
	}
	c.reserveFor(n)
	c.homeTop(n)
	c.flushed = c.v.H
	c.flushDirty()
	c.dropCaches()
	l := c.enter(decoder.OpLoop, sig)
	if c.loopDepth == 0 {
		c.loopStart = c.at
	}
	c.loopDepth++
	c.bind(&l.target)
	return pc
}

// ifOp compiles the head of an if.
func (c *Compiler) ifOp(pc int) int {
	p, ok := c.popCond()
	if !ok {
		return fail
	}
	return c.ifOn(pc, p)
}

// ifOn is ifOp on the outcome of comparison p.
func (c *Compiler) ifOn(pc int, p comparison) int {
	sig, n, pc := c.blockStart(pc)
	if pc >= fail {
		return fail
	}
	// The else arm starts from the canonical state. The then arm may keep
	// what is in registers, which is clean now.
	c.reserveFor(n)
	c.homeTop(n)
	c.flushed = c.v.H
	c.flushDirty()
	l := c.enter(decoder.OpIf, sig)
	c.branch(p, condNot[p.cond], &l.orElse)
	return pc
}

// elseOp compiles the switch to the else arm. live tells whether the end of
// the then arm is reachable.
func (c *Compiler) elseOp(pc int, live bool) int {
	d := c.v.D - 1
	f := &c.v.Ctl[d]
	if f.Op != decoder.OpIf {
		return fail
	}
	l := &c.labels[d]
	params, results := c.m.BlockParams(f.Sig), c.m.BlockResults(f.Sig)
	if live {
		if c.v.H != int(f.Height)+len(results) || !c.v.CheckTop(results) {
			return fail
		}
		c.reserveFor(len(results))
		c.flushDirty()
		c.mergeMoves(len(results), int(f.Height), true)
		c.jump(&l.target)
		l.reached = true
	}
	f.Op, f.Dead = decoder.OpElse, false
	c.leave(l)
	c.startSegment(int(f.Height))
	c.bind(&l.orElse)
	c.pushMerged(params, false)
	return pc
}

// startSegment sets the canonical state for code behind a label: the operands
// from height on are gone, nothing is in a register.
func (c *Compiler) startSegment(height int) {
	c.v.H = height
	c.flushed = height
	c.resetRegs()
}

// end compiles the end of a block, loop, if or function that execution
// reaches.
func (c *Compiler) end(pc int) int {
	pc, _ = c.endFrame(pc, true)
	return pc
}

// endFrame compiles the end of a frame. live tells whether the code before it
// is reachable. rest is set when the code behind it isn't, so that code
// generation must rest until the next frame ends.
func (c *Compiler) endFrame(pc int, live bool) (next int, rest bool) {
	d := c.v.D - 1
	f := c.v.Ctl[d]
	l := &c.labels[d]
	results := c.m.BlockResults(f.Sig)
	height := int(f.Height)
	if d == 0 {
		results = c.results
	}
	if live && (c.v.H != height+len(results) || !c.v.CheckTop(results)) {
		return fail, false
	}
	c.reserveFor(len(results))
	if f.Op == decoder.OpLoop {
		c.loopDepth--
	}
	if d == 0 {
		return c.endFunction(pc, live), false
	}
	if f.Op == decoder.OpIf {
		// No else: a false condition skips to the end with the parameters as
		// results.
		params := c.m.BlockParams(f.Sig)
		if !slices.Equal(params, results) {
			return fail, false
		}
		if live {
			c.flushDirty()
			c.mergeMoves(len(results), height, true)
			if len(results) > 0 {
				c.jump(&l.target)
			}
		}
		c.bind(&l.orElse)
		if len(results) > 0 {
			// The parameters are in their home slots.
			c.loadFrame(results[0], resultReg(results[0]), c.home(height))
		}
		c.bind(&l.target)
		c.leave(l)
		c.v.PopControl()
		c.startSegment(height)
		c.pushMerged(results, true)
		return pc, false
	}
	reached := l.reached && f.Op != decoder.OpLoop
	switch {
	case reached:
		if live {
			c.flushDirty()
			c.mergeMoves(len(results), height, true)
		}
		c.bind(&l.target)
		c.leave(l)
		c.v.PopControl()
		c.startSegment(height)
		c.pushMerged(results, true)
	case live:
		// Nothing branches here: the state just flows on.
		c.v.PopControl()
	default:
		// Nothing reaches this point. Validation goes on, code generation
		// rests until the enclosing frame ends.
		c.leave(l)
		c.v.PopControl()
		c.startSegment(height)
		c.pushMerged(results, false)
		return pc, true
	}
	return pc, false
}

// endFunction compiles the end of the body: the epilogue, which all returns
// share.
func (c *Compiler) endFunction(pc int, live bool) int {
	if pc != c.v.End {
		return fail
	}
	l := &c.labels[0]
	if live {
		c.returnMoves()
	}
	c.bind(&l.target)
	if live || l.reached {
		c.epilogue()
	}
	c.v.PopControl()
	return pc
}

// dead marks the rest of the innermost frame unreachable and skips it.
func (c *Compiler) dead(pc int) int {
	f := &c.v.Ctl[c.v.D-1]
	f.Dead = true
	c.startSegment(int(f.Height))
	return c.skip(pc)
}

// skip validates code that is never executed, up to the else or end that
// closes the innermost frame, and compiles that; on to the next frame while
// what follows is unreachable as well.
func (c *Compiler) skip(pc int) int {
	for {
		next := pc
		if op := decoder.Byte(c.base, pc); op != decoder.OpEnd && op != decoder.OpElse || !c.v.Ctl[c.v.D-1].Dead {
			var ok bool
			if next, ok = c.v.SkipDead(pc); !ok {
				return fail
			}
		}
		// Else nothing is left to validate: a polymorphic stack without
		// operands has whatever results the frame wants.
		if next >= c.v.End {
			return fail
		}
		c.at = next
		c.locked = 0
		if decoder.Byte(c.base, next) == decoder.OpElse {
			return c.elseOp(next+1, false)
		}
		var rest bool
		if pc, rest = c.endFrame(next+1, false); !rest {
			return pc
		}
	}
}

// target gives the label of relative depth n and its value types.
func (c *Compiler) target(n uint32) (*label, *decoder.Control, []decoder.Type, bool) {
	d := c.v.D - 1 - int(n)
	if d < 0 || int64(n) > int64(c.v.D) {
		return nil, nil, nil, false
	}
	f := &c.v.Ctl[d]
	types := c.results
	if d > 0 {
		types = c.v.LabelTypes(f)
	}
	return &c.labels[d], f, types, c.v.CheckTop(types)
}

// branchMoves emits the moves to a label without changing state.
func (c *Compiler) branchMoves(l *label, f *decoder.Control, n int) {
	if l == &c.labels[0] {
		c.returnMoves()
		return
	}
	c.mergeMoves(n, int(f.Height), f.Op != decoder.OpLoop)
}

// br compiles an unconditional branch.
func (c *Compiler) br(pc int) int {
	n, pc := decoder.U32(c.base, pc)
	if pc >= fail {
		return fail
	}
	l, f, types, ok := c.target(n)
	if !ok {
		return fail
	}
	c.reserveFor(len(types))
	if l != &c.labels[0] {
		// Before the moves: they may overwrite a cache.
		c.flushDirty()
	}
	c.branchMoves(l, f, len(types))
	c.jump(&l.target)
	l.reached = true
	return c.dead(pc)
}

// returnOp compiles return, a branch to the outermost label.
func (c *Compiler) returnOp(pc int) int {
	if !c.v.CheckTop(c.results) {
		return fail
	}
	c.reserveFor(len(c.results))
	c.returnMoves()
	c.jump(&c.labels[0].target)
	c.labels[0].reached = true
	return c.dead(pc)
}

// brIf compiles a conditional branch.
func (c *Compiler) brIf(pc int) int {
	p, ok := c.popCond()
	if !ok {
		return fail
	}
	return c.brOn(pc, p)
}

// brOn is brIf on the outcome of comparison p.
func (c *Compiler) brOn(pc int, p comparison) int {
	n, pc := decoder.U32(c.base, pc)
	if pc >= fail {
		return fail
	}
	l, f, types, ok := c.target(n)
	if !ok {
		return fail
	}
	if l != &c.labels[0] {
		// Locals are dead once the function returns.
		c.flushDirty()
	}
	l.reached = true
	if len(types) == 0 || c.inPlace(l, f, types) {
		c.branch(p, p.cond, &l.target)
		return pc
	}
	c.reserveFor(len(types))
	var over jumpLabel
	c.branch(p, condNot[p.cond], &over)
	c.branchMoves(l, f, len(types))
	c.jump(&l.target)
	c.bind(&over)
	return pc
}

// inPlace reports whether the single value of a branch is where the label
// wants it already.
func (c *Compiler) inPlace(l *label, f *decoder.Control, types []decoder.Type) bool {
	if len(types) != 1 || f.Op == decoder.OpLoop && l != &c.labels[0] {
		return false
	}
	x := c.v.Op(c.v.H - 1)
	return x.Loc == locReg && reg(x.Reg) == resultReg(x.Type)
}

// unreachable compiles the trap of that name.
func (c *Compiler) unreachable(pc int) int {
	c.trapHere(TrapUnreachable)
	return c.dead(pc)
}
