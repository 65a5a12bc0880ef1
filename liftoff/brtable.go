package liftoff

import "github.com/wasmjit/wasmjit/decoder"

// jumpTableMin is the number of targets from which br_table becomes a table
// of jumps; fewer are compared one by one.
const jumpTableMin = 4

// brTable compiles br_table. Targets whose canonical state the current state
// can be brought into once, before the dispatch, are jumped to directly; all
// others get a stub with their own moves.
func (c *Compiler) brTable(pc int) int {
	count, pc := decoder.U32(c.base, pc)
	if pc >= fail || int64(count) > int64(c.v.End-pc) || count > decoder.MaxBrTable {
		return fail
	}
	i := c.pop1(decoder.I32)
	if i < 0 {
		return fail
	}
	entries := pc
	// The default target comes last; it fixes the number of values.
	for k := uint32(0); k < count; k++ {
		// Not to walk off the file, however long the labels are.
		if _, pc = decoder.U32(c.base, pc); pc >= c.v.End {
			return fail
		}
	}
	def, pc := decoder.U32(c.base, pc)
	if pc >= fail {
		return fail
	}
	_, _, types, ok := c.target(def)
	if !ok {
		return fail
	}
	n := len(types)
	c.reserveFor(8*n + 64)
	index := c.use(c.v.Op(i), i)
	c.flushDirty()
	if n > 0 {
		index = c.tableValues(n, index)
	}
	var defLabel jumpLabel
	if count < jumpTableMin {
		for k, p := uint32(0), entries; k < count; k++ {
			var depth uint32
			depth, p = decoder.U32(c.base, p)
			c.reserveFor(4)
			is := comparison{kind: cmpImm, w: uint8(w32), cond: condEq, x: index, imm: int32(k)}
			if !c.tableJump(depth, n, func(t *jumpLabel) { c.branch(is, condEq, t) }) {
				return fail
			}
		}
	} else {
		c.branch(comparison{kind: cmpImm, w: uint8(w32), cond: condGeU, x: index, imm: int32(count)}, condGeU, &defLabel)
		c.jumpTable(index)
		for k, p := uint32(0), entries; k < count; k++ {
			var depth uint32
			depth, p = decoder.U32(c.base, p)
			c.reserveFor(1)
			if !c.tableJump(depth, n, c.jumpSlot) {
				return fail
			}
		}
		c.bind(&defLabel)
	}
	if !c.tableJump(def, n, c.jump) {
		return fail
	}
	for k := range c.stubs {
		s := &c.stubs[k]
		c.reserveFor(n)
		c.bind(&s.label)
		l, f, types, _ := c.target(s.depth)
		c.branchMoves(l, f, len(types))
		c.jump(&l.target)
	}
	for _, s := range c.stubs {
		c.labels[c.v.D-1-int(s.depth)].stub = 0
	}
	c.stubs = c.stubs[:0]
	return c.dead(pc)
}

// tableStub is the code that makes a br_table target's state.
type tableStub struct {
	depth uint32
	label jumpLabel
}

// tableJump emits a jump to the target of relative depth, with n values in
// the state that tableValues made, through a stub if the target wants another.
func (c *Compiler) tableJump(depth uint32, n int, jump func(*jumpLabel)) bool {
	l, f, types, ok := c.target(depth)
	if !ok || len(types) != n {
		return false
	}
	l.reached = true
	if n == 0 || n == 1 && (f.Op != decoder.OpLoop || l == &c.labels[0]) {
		jump(&l.target)
		return true
	}
	if l.stub == 0 {
		c.stubs = append(c.stubs, tableStub{depth: depth})
		l.stub = uint32(len(c.stubs))
	}
	jump(&c.stubs[l.stub-1].label)
	return true
}

// tableValues brings the top n operands, a br_table's values, into one state
// for all targets: the first in the result register, the others in their home
// slots. It returns the register of the index, moved out of the way.
func (c *Compiler) tableValues(n int, index reg) reg {
	top := c.v.H - n
	first := c.v.Op(top)
	for i := top + 1; i < c.v.H; i++ {
		switch x := c.v.Op(i); x.Loc {
		case locReg:
			c.spill(x, i)
		case locLocal, locConst:
			c.storeHome(x, i)
		}
	}
	d := resultReg(first.Type)
	if index == d {
		moved := c.alloc(allGP &^ d.bit())
		c.move(decoder.I32, moved, index)
		c.locked &^= index.bit()
		index = moved
	}
	if c.inReg(first) != d {
		c.fill(d, first, top)
	}
	c.lock(d)
	if first.Loc == locReg {
		c.release(reg(first.Reg))
	}
	// The state ends here, so who else was in d does not matter.
	first.Loc, first.Reg = locReg, uint8(d)
	return index
}
