package liftoff

import (
	"math/bits"

	"github.com/wasmjit/wasmjit/decoder"
)

// reg is a register of either kind: 0-15 are the general-purpose registers by
// hardware number, 16-31 the floating-point ones.
type reg uint8

const (
	fpBase reg = 16
	noReg  reg = 0xff
)

// regSet is a set of registers, one bit each.
type regSet uint32

// bit is the set of r alone. The mask saves the test of a shift's count that
// the language asks for; r must be a register.
func (r reg) bit() regSet { return 1 << (r & 31) }

// has reports whether r, which must be a register, is in the set.
func (s regSet) has(r reg) bool { return s>>(r&31)&1 != 0 }

func (s regSet) first() reg { return reg(bits.TrailingZeros32(uint32(s))) }

const (
	allGP regSet = 0x0000ffff
	allFP regSet = 0xffff0000
)

// classOf is the set of registers that can hold a value of type t.
func classOf(t decoder.Type) regSet {
	if t.IsFloat() {
		return allFP
	}
	return allGP
}

// regs is the register state. Every allocatable register is in exactly one of
// three states:
//
//	free    nobody needs its contents
//	in use  uses counts the stack operands with locReg that name it
//	cache   it holds the value of the unpinned local owner[r]; with a dirty
//	        bit, the local's home slot is stale
//
// A register in locked belongs to the instruction being compiled and is
// neither handed out nor evicted, whatever its state. Registers outside
// allocatable (pins, fixed roles) are never free nor cache.
type regs struct {
	allocatable regSet
	free        regSet
	cache       regSet
	dirty       regSet
	locked      regSet
	uses        [32]uint32
	owner       [32]uint32
}

// lock keeps r from being handed out or evicted until the next opcode.
func (c *Compiler) lock(r reg) { c.locked |= r.bit() }

// hold counts one more operand in r.
func (c *Compiler) hold(r reg) {
	c.uses[r&31]++
	c.free &^= r.bit()
}

// release counts one operand less in r.
func (c *Compiler) release(r reg) {
	if c.uses[r&31]--; c.uses[r&31] == 0 {
		c.free |= r.bit() & c.allocatable
	}
}

// alloc gives a register of the class, locked. It stays in the free set until
// an operand or local takes it.
func (c *Compiler) alloc(class regSet) reg {
	f := c.free & class &^ c.locked
	if f == 0 {
		return c.evict(class)
	}
	r := f.first()
	c.locked |= r.bit()
	return r
}

// evict frees a register of the class at the lowest price: a clean cache
// costs nothing, a dirty one a store, an operand a store and a reload.
func (c *Compiler) evict(class regSet) reg {
	can := class & c.allocatable &^ c.locked
	if s := can & c.cache &^ c.dirty; s != 0 {
		r := s.first()
		c.dropCache(r)
		c.lock(r)
		return r
	}
	if s := can & c.cache; s != 0 {
		r := s.first()
		c.cleanCache(r, c.v.H)
		c.dropCache(r)
		c.lock(r)
		return r
	}
	for i := c.flushed; i < c.v.H; i++ {
		x := c.v.Op(i)
		if x.Loc == locReg && can.has(reg(x.Reg)) {
			r := reg(x.Reg)
			c.spillReg(r)
			c.lock(r)
			return r
		}
	}
	panic("liftoff: no register left to evict")
}

// claim makes the allocatable register r free and locks it. r must not be
// locked already. Outside the allocatable set (the few-registers test mode)
// nothing can live in it.
func (c *Compiler) claim(r reg) reg {
	if c.locked.has(r) {
		panic("liftoff: claiming a locked register")
	}
	c.lock(r)
	switch {
	case c.free.has(r) || !c.allocatable.has(r):
	case c.cache.has(r):
		c.moveCache(r)
	default:
		c.moveOperands(r)
	}
	return r
}

// moveCache takes a cached local out of r: into another free register, or to
// its slot.
func (c *Compiler) moveCache(r reg) {
	i := c.owner[r]
	l := &c.locals[i]
	if c.dirty.has(r) {
		if f := c.free & classOf(l.typ) &^ c.locked; f != 0 {
			to := f.first()
			c.move(l.typ, to, r)
			c.dropCache(r)
			c.setCache(i, to, true)
			return
		}
		// Stored even if the local is dead: an operand of the opcode that is
		// being compiled may still stand for it.
		c.storeFrame(l.typ, l.off, r)
	}
	c.dropCache(r)
}

// moveOperands takes the operands in r to another free register, or to their
// slots.
func (c *Compiler) moveOperands(r reg) {
	class := allGP
	if r >= fpBase {
		class = allFP
	}
	f := c.free & class &^ c.locked
	if f == 0 {
		c.spillReg(r)
		return
	}
	to := f.first()
	moved := false
	for i := c.flushed; i < c.v.H; i++ {
		x := c.v.Op(i)
		if x.Loc == locReg && reg(x.Reg) == r {
			if !moved {
				c.move(x.Type, to, r)
				moved = true
			}
			x.Reg = uint8(to)
			c.hold(to)
			c.release(r)
		}
	}
}

// setCache makes r, which must be free, the cache of local i.
func (c *Compiler) setCache(i uint32, r reg, dirty bool) {
	c.locals[i].reg = r
	c.owner[r] = i
	c.free &^= r.bit()
	c.cache |= r.bit()
	if dirty {
		c.dirty |= r.bit()
	}
}

// dropCache forgets the cache r without storing it.
func (c *Compiler) dropCache(r reg) {
	c.locals[c.owner[r]].reg = noReg
	c.cache &^= r.bit()
	c.dirty &^= r.bit()
	c.free |= r.bit()
}

// cleanCache stores the dirty cache r to its local's home slot, unless nobody
// is going to read it there: no code, and no operand below height end.
func (c *Compiler) cleanCache(r reg, end int) {
	i := c.owner[r]
	if !c.deadLocal(i) || c.aliased(i, end) {
		l := &c.locals[i]
		c.storeFrame(l.typ, l.off, r)
	}
	c.dirty &^= r.bit()
}

// aliased reports whether an operand below height end stands for the current
// value of local i.
func (c *Compiler) aliased(i uint32, end int) bool {
	for k := c.flushed; k < end; k++ {
		if x := c.v.Op(k); x.Loc == locLocal && x.Local == i {
			return true
		}
	}
	return false
}

// flushDirty stores every dirty cache; the caches stay, clean. It emits
// stores only, so flags survive it.
func (c *Compiler) flushDirty() {
	if c.dirty != 0 {
		c.flushDirtyBelow(c.v.H)
	}
}

// flushDirtyBelow is flushDirty where the operands from height end on are
// consumed while their registers still hold them.
func (c *Compiler) flushDirtyBelow(end int) {
	for s := c.dirty; s != 0; s &= s - 1 {
		c.cleanCache(s.first(), end)
	}
}

// dropCaches forgets all caches, which must be clean or dead.
func (c *Compiler) dropCaches() {
	for s := c.cache; s != 0; s &= s - 1 {
		c.locals[c.owner[s.first()]].reg = noReg
	}
	c.free |= c.cache
	c.cache, c.dirty = 0, 0
}

// resetRegs starts a straight-line segment: no caches, no operand in a
// register.
func (c *Compiler) resetRegs() {
	c.dropCaches()
	for s := c.allocatable &^ c.free; s != 0; s &= s - 1 {
		c.uses[s.first()] = 0
	}
	c.free = c.allocatable
}
