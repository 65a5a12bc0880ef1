package liftoff

import "github.com/wasmjit/wasmjit/decoder"

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
	c.choosePins(pc, len(params))

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
	c.placeSlots(bottom)

	c.reserveFor(len(c.locals))
	for i, at := range params {
		c.locals[i].init = true
		c.placeParam(uint32(i), at.reg)
	}
}

// slotUnits is the size of a home slot in units of eight bytes.
func slotUnits(t decoder.Type) uint64 {
	if t == decoder.V128 {
		return 2
	}
	return 1
}

// Groups of locals, in the order of their slots.
type slotGroup = uint32

const (
	slotsHeavy slotGroup = iota // accessed in several segments
	slotsLight                  // the others
	slotsNone                   // need none
)

// heavyWeight is the least weight of slotsHeavy.
const heavyWeight = 3

// slotGroup gives the group of local i. What decides is as good as random, so
// all is asked, and nothing jumped over.
func (c *Compiler) slotGroup(i int, l *local) slotGroup {
	h, whole := &c.hints.locals[i], c.hints.whole
	g := slotsLight
	if h.weight >= heavyWeight {
		g = slotsHeavy
	}
	if l.pin != noReg {
		g = slotsNone
	}
	if l.off != 0 {
		g = slotsNone
	}
	if h.last == 0 && whole {
		g = slotsNone
	}
	return g
}

// groupBits is the room for the number of units in one group: enough for
// decoder.MaxLocals of the largest.
const groupBits = 20

// placeSlots gives home slots below bottom to the locals that need one, and
// sets what is below those of both groups as the base of the operands. Few
// slots are within reach of a one-byte displacement: the locals that are
// accessed most get those.
func (c *Compiler) placeSlots(bottom int32) {
	if len(c.locals) == 0 {
		c.operandBase = bottom
		return
	}
	// One number counts the units of each group.
	var units uint64
	for i := range c.locals {
		l := &c.locals[i]
		g := c.slotGroup(i, l)
		l.group = uint8(g)
		units += slotUnits(l.typ) << (g * groupBits & 63)
	}
	const one = 1<<groupBits - 1
	light := bottom - 8*int32(units&one)
	c.operandBase = light - 8*int32(units>>groupBits&one)
	top := [4]int32{slotsHeavy: bottom, slotsLight: light}
	units = 0
	for i := range c.locals {
		l := &c.locals[i]
		shift := uint32(l.group) * groupBits & 63
		units += slotUnits(l.typ) << shift
		off := top[l.group&3] - 8*int32(units>>shift&one)
		if l.group == uint8(slotsNone) {
			off = l.off
		}
		l.off = off
	}
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
