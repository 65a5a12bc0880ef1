package liftoff

// Locals are zero at first. To zero one costs an instruction, and most are
// written before they are read: whether some path reads one that no write
// covers is found on the way, and what has to be zeroed is part of the
// prologue, which is written last. A write covers what follows in its block, by
// the rule of the function-references proposal for locals without a default.

// readZero notes that the code at hand may read the initial value of local n.
func (c *Compiler) readZero(n uint32) {
	c.locals[n].init = true
	c.zeroed = append(c.zeroed, n)
}

// initialize notes that a write covers local n until the block ends.
func (c *Compiler) initialize(n uint32) {
	c.locals[n].init = true
	c.initialized = append(c.initialized, n)
}

// leave forgets the writes inside of the block of l: a branch may have gone
// around them.
func (c *Compiler) leave(l *label) {
	for _, n := range c.initialized[l.initialized:] {
		c.locals[n].init = false
	}
	c.initialized = c.initialized[:l.initialized]
}

// zeroLocals emits the zeroing of the locals that need it. It is part of the
// prologue: parameters are still in the registers that they arrived in, and
// none in its home slot.
func (c *Compiler) zeroLocals() {
	low, high, n := int32(0), int32(0), 0
	for _, i := range c.zeroed {
		l := &c.locals[i]
		if l.pin != noReg {
			c.constant(l.typ, l.pin, 0)
			continue
		}
		if n++; n == 1 {
			low, high = l.off, l.off
		}
		low, high = min(low, l.off), max(high, l.off)
	}
	// What lies between them isn't read before it is written.
	if span := int(high-low)/8 + 1; n > 0 && (n > maxZeroStores || span <= 2*n) {
		c.zeroSlots(low, span)
		return
	}
	for _, i := range c.zeroed {
		if l := &c.locals[i]; l.pin == noReg {
			c.zeroSlot(l.off)
		}
	}
}

// maxZeroStores is the greatest number of scattered slots that are zeroed one by
// one.
const maxZeroStores = 8
