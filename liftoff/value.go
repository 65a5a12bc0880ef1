package liftoff

import (
	"github.com/wasmjit/wasmjit/decoder"
)

// Where an operand is (decoder.Operand.Loc).
const (
	// locSlot: in its home slot in the frame.
	locSlot uint8 = iota
	// locReg: in Operand.Reg; the home slot is undefined.
	locReg
	// locConst: it is the constant Operand.Bits (i32 zero-extended).
	locConst
	// locLocal: the current value of local Operand.Local. Setting that local
	// detaches its aliases first.
	locLocal
)

// local is the state of one local variable.
type local struct {
	typ decoder.Type
	// pin is the callee-saved register that holds the local throughout the
	// function, or noReg.
	pin reg
	// reg is where the value is in a register now: the pin, the cache, or noReg.
	reg reg
	// init is set while a write covers what follows; see zero.go.
	init bool
	// off is the home slot of an unpinned local, relative to the frame pointer.
	off int32
}

// home is the frame offset of the home slot of the operand at height i.
func (c *Compiler) home(i int) int32 {
	return c.operandBase - int32(i+1)*c.slotSize
}

// touch notes that the home slot of height i is written, for the frame size.
func (c *Compiler) touch(i int) int32 {
	if i >= c.maxHeight {
		c.maxHeight = i + 1
	}
	return c.home(i)
}

// push adds an operand; the caller completes it.
func (c *Compiler) push(t decoder.Type, loc uint8) *decoder.Operand {
	if c.v.H < c.flushed {
		c.flushed = c.v.H
	}
	x := c.v.Push(t)
	x.Loc = loc
	return x
}

// settleNow as the limit of unflushed operands makes every opcode settle.
const settleNow = 0

// maxUnflushed bounds the operands above Compiler.flushed between opcodes.
// What walks them - spills, alias checks, calls - is then O(1) per opcode
// however deep the stack is.
const maxUnflushed = 64

// settle brings the height flushed back into its bounds, before an opcode: not
// above the stack, and not far below. It reports whether the stack is within
// validation's limit.
func (c *Compiler) settle() bool {
	if c.o.Reference {
		c.spillAll()
	}
	if c.v.H <= c.flushed {
		c.flushed = c.v.H
		return c.v.H <= decoder.MaxOperands
	}
	c.reserveFor(c.v.H - c.flushed)
	c.flushOperands(c.v.H - maxUnflushed/2)
	return c.v.H <= decoder.MaxOperands
}

// pushReg adds an operand that is in r.
func (c *Compiler) pushReg(t decoder.Type, r reg) {
	x := c.push(t, locReg)
	x.Reg = uint8(r)
	// Masked, the index needs no bounds check and the shift no test.
	c.uses[r&31]++
	c.free &^= 1 << (r & 31)
}

// pushConst adds a constant.
func (c *Compiler) pushConst(t decoder.Type, bits uint64) {
	c.push(t, locConst).Bits = bits
}

// pushAlias adds the current value of local i.
func (c *Compiler) pushAlias(t decoder.Type, i uint32) {
	c.push(t, locLocal).Local = i
}

// pop1 takes one operand of type t off the stack and gives its height, or -1
// when validation fails. The operand's record stays readable until the next
// push; its register is locked.
func (c *Compiler) pop1(t decoder.Type) int {
	i := c.drop1(t)
	if i >= 0 {
		c.letGo(c.v.Op(i))
	}
	return i
}

// pop2 takes two operands of types t and u (u on top) and gives the height of
// the lower one, or -1.
func (c *Compiler) pop2(t, u decoder.Type) int {
	i := c.drop2(t, u)
	if i >= 0 {
		c.letGo(c.v.Op(i))
		c.letGo(c.v.Op(i + 1))
	}
	return i
}

// drop1 is pop1 without letting the operand go: take follows.
func (c *Compiler) drop1(t decoder.Type) int {
	i := c.v.H - 1
	if i < c.v.Floor || c.v.Op(i).Type != t {
		return -1
	}
	c.v.H = i
	return i
}

// drop2 is pop2 without letting the operands go: take or letGo must follow for
// both.
func (c *Compiler) drop2(t, u decoder.Type) int {
	i := c.v.H - 2
	if i < c.v.Floor || c.v.Op(i).Type != t || c.v.Op(i+1).Type != u {
		return -1
	}
	c.v.H = i
	return i
}

// take is letGo and use in one, for the operand x of height i. That it repeats
// letGo saves a call.
func (c *Compiler) take(x *decoder.Operand, i int) reg {
	switch x.Loc {
	case locReg:
		r := reg(x.Reg)
		bit := regSet(1) << (r & 31)
		c.locked |= bit
		if c.uses[r&31]--; c.uses[r&31] == 0 {
			c.free |= bit & c.allocatable
		}
		return r
	case locLocal:
		if r := c.locals[x.Local].reg; r != noReg {
			c.locked |= 1 << (r & 31)
			return r
		}
	}
	return c.use(x, i)
}

// popAny takes the top operand whatever its type; -1 on underflow.
func (c *Compiler) popAny() int {
	i := c.v.H - 1
	if i < c.v.Floor {
		return -1
	}
	c.v.H = i
	c.letGo(c.v.Op(i))
	return i
}

// letGo ends an operand's hold on its register and locks the register for the
// rest of the opcode. It gives the register, or noReg.
func (c *Compiler) letGo(x *decoder.Operand) reg {
	switch x.Loc {
	case locReg:
		r := reg(x.Reg)
		bit := regSet(1) << (r & 31)
		c.locked |= bit
		if c.uses[r&31]--; c.uses[r&31] == 0 {
			c.free |= bit & c.allocatable
		}
		return r
	case locLocal:
		if r := c.locals[x.Local].reg; r != noReg {
			c.locked |= 1 << (r & 31)
			return r
		}
	}
	return noReg
}

// taken is use for an operand that letGo gave r for.
func (c *Compiler) taken(r reg, x *decoder.Operand, i int) reg {
	if r != noReg {
		return r
	}
	return c.use(x, i)
}

// inReg is the register that holds operand x now, or noReg.
func (c *Compiler) inReg(x *decoder.Operand) reg {
	switch x.Loc {
	case locReg:
		return reg(x.Reg)
	case locLocal:
		return c.locals[x.Local].reg
	}
	return noReg
}

// use brings the popped operand x of height i into a register and locks it.
// The register may be overwritten only if it is in the free set.
func (c *Compiler) use(x *decoder.Operand, i int) reg {
	if r := c.inReg(x); r != noReg {
		c.lock(r)
		return r
	}
	r := c.alloc(classOf(x.Type))
	c.fill(r, x, i)
	if x.Loc == locLocal {
		c.setCache(x.Local, r, false)
	}
	return r
}

// fill loads operand x of height i into r, whatever else r is.
func (c *Compiler) fill(r reg, x *decoder.Operand, i int) {
	switch x.Loc {
	case locReg:
		c.move(x.Type, r, reg(x.Reg))
	case locConst:
		c.constant(x.Type, r, x.Bits)
	case locSlot:
		c.loadFrame(x.Type, r, c.home(i))
	case locLocal:
		l := &c.locals[x.Local]
		if l.reg != noReg {
			c.move(x.Type, r, l.reg)
		} else {
			c.loadFrame(x.Type, r, l.off)
		}
	default:
		panic("liftoff: operand without a value")
	}
}

// useOwn is use, with a register that the opcode may overwrite.
func (c *Compiler) useOwn(x *decoder.Operand, i int) reg {
	r := c.use(x, i)
	if c.free.has(r) {
		return r
	}
	d := c.alloc(classOf(x.Type))
	c.move(x.Type, d, r)
	return d
}

// spillReg stores every operand that is in r to its home slot.
func (c *Compiler) spillReg(r reg) {
	for i := c.flushed; i < c.v.H; i++ {
		if x := c.v.Op(i); x.Loc == locReg && reg(x.Reg) == r {
			c.spill(x, i)
		}
	}
}

// spill stores the operand x of height i, which is in a register, home.
func (c *Compiler) spill(x *decoder.Operand, i int) {
	c.storeFrame(x.Type, c.touch(i), reg(x.Reg))
	x.Loc = locSlot
	c.release(reg(x.Reg))
}

// flushOperands brings every operand below height end into a state that holds
// on all paths: its home slot, or a constant. Operands that are flushed
// already aren't looked at again, so the work is linear in what was pushed.
func (c *Compiler) flushOperands(end int) {
	for i := c.flushed; i < end; i++ {
		x := c.v.Op(i)
		switch x.Loc {
		case locReg:
			c.spill(x, i)
		case locLocal:
			c.storeHome(x, i)
		}
	}
	if end > c.flushed {
		c.flushed = end
	}
}

// storeHome writes operand x of height i, an alias or a constant, to its home
// slot.
func (c *Compiler) storeHome(x *decoder.Operand, i int) {
	off := c.touch(i)
	if x.Loc == locConst {
		c.storeFrameConst(x.Type, off, x.Bits)
	} else {
		keep := c.locked
		r := c.use(x, i)
		c.storeFrame(x.Type, off, r)
		c.locked = keep
	}
	x.Loc = locSlot
}

// homeTop brings the top n operands into their home slots, constants too.
func (c *Compiler) homeTop(n int) {
	for i := c.v.H - n; i < c.v.H; i++ {
		x := c.v.Op(i)
		switch x.Loc {
		case locReg:
			c.spill(x, i)
		case locLocal, locConst:
			c.storeHome(x, i)
		}
	}
}

// detach gives the operands that are aliases of local n a value of their own,
// since the local is about to change. A cached local hands them its register.
func (c *Compiler) detach(n uint32) {
	own := noReg
	for i := c.flushed; i < c.v.H; i++ {
		x := c.v.Op(i)
		if x.Loc != locLocal || x.Local != n {
			continue
		}
		if own == noReg {
			own = c.detached(n)
		}
		x.Loc, x.Reg = locReg, uint8(own)
		c.hold(own)
	}
}

// detached gives a register with the old value of local n that the local no
// longer claims.
func (c *Compiler) detached(n uint32) reg {
	l := &c.locals[n]
	if l.pin == noReg && l.reg != noReg {
		// The local is overwritten, so a dirty value needs no store.
		r := l.reg
		c.dropCache(r)
		return r
	}
	r := c.alloc(classOf(l.typ))
	if l.reg != noReg {
		c.move(l.typ, r, l.reg)
	} else {
		c.loadFrame(l.typ, r, l.off)
	}
	return r
}

// spillAll is the reference lowering: before each opcode every operand is in
// its home slot and every local in its own, so that an opcode's code depends
// on nothing that came before. What a result that landed in a pin is meant for
// is the one opcode that follows.
func (c *Compiler) spillAll() {
	c.locked = 0
	for i := c.flushed; i < c.v.H; i++ {
		if x := c.v.Op(i); x.Loc == locReg {
			c.spill(x, i)
		} else if x.Loc == locLocal || x.Loc == locConst {
			c.storeHome(x, i)
		}
	}
	c.flushed = c.v.H
	c.flushDirty()
	c.dropCaches()
}
