package liftoff

import "github.com/wasmjit/wasmjit/decoder"

// placeLocals gives every local its pin or home slot and emits the moves of
// the parameters and the zeroing of the others.
func (c *Compiler) placeLocals(ft *decoder.FuncType, pc int) {
	types := c.v.Locals
	if cap(c.locals) < len(types) {
		c.locals = make([]local, len(types)+len(types)/2)
	}
	c.locals = c.locals[:len(types)]
	for i, t := range types {
		c.locals[i] = local{typ: t, pin: noReg, reg: noReg}
	}
	c.pinsGP, c.pinsFP = 0, 0
	scanned := c.choosePins(pc, len(ft.Params))

	locs, cells := AssignParams(c.locs[:0], ft.Params)
	c.locs = locs
	c.resultLocs, _ = AssignResults(c.resultLocs[:0], ft.Results, cells)

	// Homes: stack parameters stay where the caller put them.
	bottom := c.savedFP(c.pinsFP - 1)
	if c.pinsFP == 0 {
		bottom = savedGP(c.pinsGP - 1)
	}
	zeroFrom, zeroes := int32(0), 0
	for i := range c.locals {
		l := &c.locals[i]
		switch {
		case i < len(locs) && locs[i].Kind == ABIStack:
			l.off = cellOffset(int(locs[i].Index))
			continue
		case l.pin != noReg:
			continue
		case i >= len(locs) && scanned && !c.hints.used(i):
			// Never read or written.
			continue
		}
		slots := int32(1)
		if l.typ == decoder.V128 {
			slots = 2
		}
		bottom -= 8 * slots
		l.off = bottom
		if i >= len(locs) {
			zeroFrom = bottom
			zeroes += int(slots)
		}
	}
	c.operandBase = bottom

	c.reserveFor(len(c.locals))
	for i := range locs {
		c.placeParam(uint32(i), locs[i])
	}
	c.zeroSlots(zeroFrom, zeroes)
	for i := len(locs); i < len(c.locals); i++ {
		if l := &c.locals[i]; l.pin != noReg {
			c.constant(l.typ, l.pin, 0)
		}
	}
}

// placeParam brings a parameter from where it travels to its pin; an unpinned
// one that came in a register is cached there.
func (c *Compiler) placeParam(i uint32, at ABILoc) {
	l := &c.locals[i]
	r := argReg(at)
	switch {
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
