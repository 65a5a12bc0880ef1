package liftoff

import "github.com/wasmjit/wasmjit/decoder"

// The canonical state. At every label all predecessors agree on this, by rule
// and without any record of a state:
//
//   - operands below the label's values are in their home slots, or constants;
//     they were brought there when the block was entered, and can't change
//     inside it;
//   - of the label's values, the first of a forward label is in the result
//     register, all others and all of a loop's in their home slots;
//   - pinned locals are in their pins, all others in their home slots, and no
//     register caches anything.

// mergeMoves emits the moves that bring the top n operands to a label whose
// values start at height base, without changing the compiler's state: it may
// stand on a path that is not always taken. first tells whether the first
// value goes to the result register. Flags don't survive it.
//
// Slots are written in ascending order. A value's destination is never above
// its source, so no slot is overwritten that a later value still needs; the
// first value, which moves last, is saved if its slot is.
func (c *Compiler) mergeMoves(n, base int, first bool) {
	if n == 0 {
		return
	}
	src := c.v.H - n
	ops := c.v.Ops[src:c.v.H]
	if !first {
		tmp := c.mergeTemp(ops)
		for k := range ops {
			c.mergeSlot(&ops[k], src+k, c.touch(base+k), tmp)
		}
		return
	}
	if n == 1 {
		c.fill(resultReg(ops[0].Type), &ops[0], src)
		return
	}
	x, saved := ops[0], false
	if x.Loc == locSlot && src != base {
		// Its slot may be overwritten below.
		c.saveFrame(c.home(src))
		saved = true
	}
	tmp := c.mergeTemp(ops)
	for k := 1; k < n; k++ {
		c.mergeSlot(&ops[k], src+k, c.touch(base+k), tmp)
	}
	if saved {
		c.restoreSaved(resultReg(x.Type))
		return
	}
	c.fill(resultReg(x.Type), &x, src)
}

// mergeTemp finds a general-purpose register that none of the operands needs,
// or noReg.
func (c *Compiler) mergeTemp(ops []decoder.Operand) reg {
	used := regSet(0)
	for k := range ops {
		if r := c.inReg(&ops[k]); r != noReg {
			used |= r.bit()
		}
	}
	if s := (c.allocatable | scratchReg.bit()) & allGP &^ used &^ c.locked; s != 0 {
		return s.first()
	}
	return noReg
}

// mergeSlot copies operand x of height i to the frame slot at off, through
// tmp (or the machine's stack) when both are in memory.
func (c *Compiler) mergeSlot(x *decoder.Operand, i int, off int32, tmp reg) {
	if r := c.inReg(x); r != noReg {
		c.storeFrame(x.Type, off, r)
		return
	}
	from := c.home(i)
	switch x.Loc {
	case locConst:
		c.storeFrameConst(x.Type, off, x.Bits)
		return
	case locLocal:
		from = c.locals[x.Local].off
	}
	if from != off {
		c.copyFrame(x.Type, off, from, tmp)
	}
}

// resultReg is the register of the first value of a label or function.
func resultReg(t decoder.Type) reg {
	if t.IsFloat() {
		return resultFP
	}
	return resultGP
}

// pushMerged pushes the values of a label as the canonical state has them.
func (c *Compiler) pushMerged(types []decoder.Type, first bool) {
	for k, t := range types {
		if k == 0 && first {
			c.pushReg(t, resultReg(t))
		} else {
			c.touch(c.v.H)
			c.push(t, locSlot)
		}
	}
}

// returnMoves emits the moves that bring the top operands to where the
// function's results travel, without changing the compiler's state.
func (c *Compiler) returnMoves() {
	n := len(c.results)
	if n == 0 {
		return
	}
	src := c.v.H - n
	ops := c.v.Ops[src:c.v.H]
	tmp := noReg
	if n > 1 {
		tmp = c.mergeTemp(ops)
	}
	for k := 1; k < n; k++ {
		c.mergeSlot(&ops[k], src+k, cellOffset(c.sig.results[k].cell), tmp)
	}
	c.fill(resultReg(ops[0].Type), &ops[0], src)
}

// cellOffset is the frame offset of a cell of the incoming stack arguments.
func cellOffset(cell uint16) int32 { return 16 + 8*int32(cell) }
