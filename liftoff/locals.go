package liftoff

import "github.com/wasmjit/wasmjit/decoder"

// placeLocals gives every local its pin or home slot and emits the moves of
// the parameters and the zeroing of the others.
func (c *Compiler) placeLocals(pc int) {
	params := c.sig.params
	types := c.v.Locals
	if cap(c.locals) < len(types) {
		c.locals = make([]local, len(types)+len(types)/2)
	}
	c.locals = c.locals[:len(types)]
	for i, t := range types {
		c.locals[i] = local{typ: t, pin: noReg, reg: noReg}
	}
	c.pinsGP, c.pinsFP = 0, 0
	c.choosePins(pc, len(params))

	// Homes: stack parameters stay where the caller put them. Locals that need
	// zeroing are adjacent.
	bottom := c.savedFP(c.pinsFP - 1)
	if c.pinsFP == 0 {
		bottom = savedGP(c.pinsGP - 1)
	}
	for i, at := range params {
		if at.reg == noReg {
			c.locals[i].off = cellOffset(at.cell)
		}
	}
	// Few slots are within reach of a one-byte displacement: the locals that
	// are accessed most get those.
	bottom = c.placeSlots(0, bottom, slotsHeavy)
	bottom = c.placeSlots(0, bottom, slotsLight)
	zeroTop := bottom
	bottom = c.placeSlots(len(params), bottom, slotsZeroed)
	zeroFrom := bottom
	c.operandBase = bottom

	c.reserveFor(len(c.locals))
	for i, at := range params {
		c.placeParam(uint32(i), at.reg)
	}
	c.zeroSlots(zeroFrom, int(zeroTop-zeroFrom)/8)
	for i := len(params); i < len(c.locals); i++ {
		if l := &c.locals[i]; l.pin != noReg && c.hints.needsZero(i) {
			c.constant(l.typ, l.pin, 0)
		}
	}
}

// slotBytes is the size of a home slot.
func slotBytes(t decoder.Type) int32 {
	if t == decoder.V128 {
		return 16
	}
	return 8
}

// Groups of unpinned locals, in the order of their slots.
type slotGroup uint8

const (
	slotsHeavy  slotGroup = iota // accessed in several segments
	slotsLight                   // the others
	slotsZeroed                  // zeroed on entry: adjacent, so that it is quick
)

// heavyWeight is the least weight of slotsHeavy.
const heavyWeight = 3

// slotGroup gives the group of local i.
func (c *Compiler) slotGroup(i int) slotGroup {
	switch {
	case i >= len(c.sig.params) && c.hints.needsZero(i):
		return slotsZeroed
	case c.hints.locals[i].weight >= heavyWeight:
		return slotsHeavy
	}
	return slotsLight
}

// placeSlots gives home slots below bottom to the unpinned locals of a group
// from index from on, and returns the new bottom.
func (c *Compiler) placeSlots(from int, bottom int32, group slotGroup) int32 {
	for i := from; i < len(c.locals); i++ {
		l := &c.locals[i]
		if l.pin == noReg && l.off == 0 && c.hints.used(i) && c.slotGroup(i) == group {
			bottom -= slotBytes(l.typ)
			l.off = bottom
		}
	}
	return bottom
}

// placeParam brings a parameter from where it travels to its pin; an unpinned
// one that came in a register is cached there. r is noReg for one on the stack.
func (c *Compiler) placeParam(i uint32, r reg) {
	l := &c.locals[i]
	switch {
	case !c.hints.used(int(i)):
	case r == noReg:
		if l.pin != noReg {
			c.loadFrame(l.typ, l.pin, l.off)
		}
	case l.pin != noReg:
		c.move(l.typ, l.pin, r)
	case c.allocatable.has(r):
		c.setCache(i, r, true)
	default:
		c.storeFrame(l.typ, l.off, r)
	}
}
