package liftoff

import "github.com/wasmjit/wasmjit/decoder"

// call compiles a direct call, or a call of an import through its record.
func (c *Compiler) call(pc int) int {
	fn, pc := decoder.U32(c.base, pc)
	if pc >= fail || int64(fn) >= int64(len(c.m.Funcs)) {
		return fail
	}
	typ := c.m.Funcs[fn]
	ft, sig := &c.m.Types[typ], &c.sigs[typ]
	if !c.v.CheckTop(ft.Params) {
		return fail
	}
	c.beginCall(len(ft.Params), len(ft.Results))
	c.passArgs(sig)
	if fn >= c.m.NumImportedFuncs {
		c.callSite(fn)
	} else {
		c.callRecordAt(c.l.Record(fn))
		c.restoreInstance()
	}
	return c.finishCall(pc, ft, sig)
}

// callIndirect compiles a call through a table entry: bounds, null and
// signature checks, then the call in the entry's instance.
func (c *Compiler) callIndirect(pc int) int {
	typ, pc := decoder.U32(c.base, pc)
	if pc >= fail || int64(typ) >= int64(len(c.m.Types)) {
		return fail
	}
	table, pc := decoder.U32(c.base, pc)
	if pc >= fail || int64(table) >= int64(len(c.m.Tables)) || c.m.Tables[table].Elem != decoder.FuncRef {
		return fail
	}
	ft, sig := &c.m.Types[typ], &c.sigs[typ]
	i := c.pop1(decoder.I32)
	if i < 0 || !c.v.CheckTop(ft.Params) {
		return fail
	}
	c.reserveFor(16)
	index := c.use(c.v.Op(i), i)
	record := scratchReg
	if index == record {
		index = c.alloc(allGP &^ record.bit())
		c.move(decoder.I32, index, record)
		c.moveOut(record)
	} else {
		c.claim(record)
	}
	c.tableEntry(record, index, table, c.alloc(allGP), typ)
	c.locked = record.bit()
	// The record's register is not one of the argument registers, and no
	// operand can be given it while it is locked.
	c.beginCall(len(ft.Params), len(ft.Results))
	c.passArgs(sig)
	c.callRecord(record)
	c.restoreInstance()
	return c.finishCall(pc, ft, sig)
}

// moveOut ends whatever else claims r, a locked register whose value has been
// copied: the local cached there or the operands that share it.
func (c *Compiler) moveOut(r reg) {
	switch {
	case c.free.has(r) || !c.allocatable.has(r):
	case c.cache.has(r):
		c.moveCache(r)
	default:
		c.moveOperands(r)
	}
}

// beginCall makes room for the code of a call and brings everything that must
// survive it, and isn't in a callee-saved register, into the frame: operands
// below the n arguments, and dirty locals.
func (c *Compiler) beginCall(n, results int) {
	c.reserveFor(c.v.H - c.flushed + 2*(n+results) + 16)
	for i := c.flushed; i < c.v.H-n; i++ {
		if x := c.v.Op(i); x.Loc == locReg {
			c.spill(x, i)
		}
	}
	c.flushDirtyBelow(c.v.H - n)
}

// passArgs moves the top operands to where the parameters of sig travel and
// takes them off the stack.
func (c *Compiler) passArgs(sig *signature) {
	src := c.v.H - len(sig.params)
	ops := c.v.Ops[src:c.v.H]
	// Stack cells first, while every operand still is where it is.
	if sig.inCells > 0 {
		tmp := c.mergeTemp(ops)
		for k, to := range sig.params {
			if to.reg == noReg {
				c.outSlot(&ops[k], src+k, int32(to.cell)*8, tmp)
			}
		}
	}
	c.passRegs(sig.params)
}

// passRegs moves the top operands to the registers that params names (noReg
// for one that is placed already) and takes them off the stack.
func (c *Compiler) passRegs(params []travel) {
	src := c.v.H - len(params)
	ops := c.v.Ops[src:c.v.H]
	// later are the registers that the arguments behind this one are read from.
	var later, conflict regSet
	for k := len(ops) - 1; k >= 0; k-- {
		d := params[k].reg
		if d == noReg {
			continue
		}
		bit := regSet(1) << (d & 31)
		conflict |= later & bit
		c.locked |= bit
		if r := c.inReg(&ops[k]); r != noReg {
			later |= 1 << (r & 31)
		}
	}
	if conflict != 0 {
		c.passParallel(params, ops, src)
	}
	c.v.H = src
	if c.flushed > src {
		c.flushed = src
	}
	for k := range ops {
		x := &ops[k]
		if d := params[k].reg; d != noReg && conflict == 0 {
			c.fill(d, x, src+k)
		}
		if x.Loc == locReg {
			c.release(reg(x.Reg))
		}
	}
}

// passParallel is the part of passRegs that moves the operands ops, the lowest
// of height src, where an argument would overwrite the source of a later one:
// moves between registers in an order that destroys no source, then everything
// that comes from memory or is constant.
func (c *Compiler) passParallel(params []travel, ops []decoder.Operand, src int) {
	m := &c.moves
	m.dst = 0
	for k := range ops {
		if d, r := params[k].reg, c.inReg(&ops[k]); d != noReg && r != noReg {
			m.add(d, r, ops[k].Type)
		}
	}
	c.emitParallel(m)
	for k := range ops {
		if d := params[k].reg; d != noReg && c.inReg(&ops[k]) == noReg {
			c.fill(d, &ops[k], src+k)
		}
	}
}

// finishCall forgets the caller-saved registers and pushes the results.
func (c *Compiler) finishCall(pc int, ft *decoder.FuncType, sig *signature) int {
	c.dropCaches()
	if sig.cells > c.maxOut {
		c.maxOut = sig.cells
	}
	if len(ft.Results) == 1 {
		return c.deliver(pc, ft.Results[0], sig.results[0].reg)
	}
	for k, t := range ft.Results {
		from := sig.results[k]
		if from.reg != noReg {
			c.pushReg(t, from.reg)
			c.lock(from.reg)
			continue
		}
		c.copyIn(t, c.touch(c.v.H), int32(from.cell)*8)
		c.push(t, locSlot)
	}
	return pc
}

// parallelMove is a set of moves between registers that happen at once. Only
// the entries of pending destinations mean anything.
type parallelMove struct {
	dst  regSet // pending destinations
	from [32]reg
	typ  [32]decoder.Type
}

// add adds a move from r to d.
func (m *parallelMove) add(d, r reg, t decoder.Type) {
	if d != r {
		m.dst |= d.bit()
		m.from[d], m.typ[d] = r, t
	}
}

// emitParallel emits the moves of m in an order that reads every source
// before it is written. What remains when no destination is free of readers
// are cycles, which rotate by exchanges.
func (c *Compiler) emitParallel(m *parallelMove) {
	for m.dst != 0 {
		sources := regSet(0)
		for s := m.dst; s != 0; s &= s - 1 {
			sources |= m.from[s.first()].bit()
		}
		ready := m.dst &^ sources
		if ready == 0 {
			break
		}
		for s := ready; s != 0; s &= s - 1 {
			d := s.first()
			c.move(m.typ[d], d, m.from[d])
		}
		m.dst &^= ready
	}
	for m.dst != 0 {
		d := m.dst.first()
		r := m.from[d]
		c.exchange(d, r)
		m.dst &^= d.bit()
		// d has its value; whoever wanted d's old value finds it in r.
		for s := m.dst; s != 0; s &= s - 1 {
			if e := s.first(); m.from[e] == d {
				m.from[e] = r
			}
		}
		if m.from[r] == r {
			m.dst &^= r.bit()
		}
	}
}
