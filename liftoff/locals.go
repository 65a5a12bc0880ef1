package liftoff

// placeLocals gives every local its pin or home slot and emits the moves of
// the parameters.
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
	heavy := c.choosePins(pc, len(params))

	bottom := c.savedFP(c.pinsFP - 1)
	if c.pinsFP == 0 {
		bottom = savedGP(c.pinsGP - 1)
	}
	// Stack parameters stay where the caller put them.
	if c.sig.inCells > 0 {
		for i, at := range params {
			if at.reg == noReg {
				c.locals[i].off = cellOffset(at.cell)
			}
		}
	}
	c.placeSlots(bottom, heavy)

	c.reserveFor(len(c.locals))
	for i, at := range params {
		c.locals[i].init = true
		c.placeParam(uint32(i), at.reg)
	}
}

// heavyWeight is the weight from which a local is heavy: accessed in several
// segments.
const heavyWeight = 3

// placeSlots gives home slots below bottom to the locals that need one, first to
// the heavy ones, which are at most as many as heavy says: few slots are within
// reach of a one-byte displacement. What is below them is the operands'.
//
// What decides is as good as random, so that all is computed and nothing jumped
// over.
func (c *Compiler) placeSlots(bottom int32, heavy int) {
	// The lowest slots so far.
	heavyOff, lightOff := bottom, bottom-c.slotSize*int32(heavy)
	unused := c.hints.unused()
	for i := range c.locals {
		l, h := &c.locals[i], &c.hints.locals[i]
		size := c.slotSize
		if l.pin != noReg {
			size = 0
		}
		if l.off != 0 {
			size = 0
		}
		if h.last == unused {
			size = 0
		}
		heavySize := size
		if h.weight < heavyWeight {
			heavySize = 0
		}
		heavyOff -= heavySize
		lightOff -= size - heavySize
		off := lightOff
		if heavySize != 0 {
			off = heavyOff
		}
		if size == 0 {
			off = l.off
		}
		l.off = off
	}
	c.operandBase = lightOff
}

// placeParam brings a parameter from where it travels to its pin; an unpinned
// one that came in a register is cached there. r is noReg for one on the stack.
func (c *Compiler) placeParam(i uint32, r reg) {
	l := &c.locals[i]
	switch {
	case c.hints.locals[i].last == c.hints.unused():
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
