package liftoff

import "github.com/wasmjit/wasmjit/decoder"

// localGet pushes an alias of a local; no code.
func (c *Compiler) localGet(pc int) int {
	n, pc := decoder.U32(c.base, pc)
	if int(n) >= len(c.locals) {
		return fail
	}
	if !c.locals[n].init {
		c.readZero(n)
	}
	c.pushAlias(c.locals[n].typ, n)
	return pc
}

// localSet compiles local.set.
func (c *Compiler) localSet(pc int) int {
	n, pc := decoder.U32(c.base, pc)
	if int(n) >= len(c.locals) {
		return fail
	}
	i := c.pop1(c.locals[n].typ)
	if i < 0 {
		return fail
	}
	c.setLocal(n, c.v.Op(i), i)
	return pc
}

// localTee compiles local.tee: the value is an alias of the local afterwards.
func (c *Compiler) localTee(pc int) int {
	n, pc := decoder.U32(c.base, pc)
	if int(n) >= len(c.locals) {
		return fail
	}
	i := c.pop1(c.locals[n].typ)
	if i < 0 {
		return fail
	}
	c.setLocal(n, c.v.Op(i), i)
	c.pushAlias(c.locals[n].typ, n)
	return pc
}

// setLocal gives local n the value of the popped operand x of height i. A pin
// is written; an unpinned local takes over the operand's register, dirty.
func (c *Compiler) setLocal(n uint32, x *decoder.Operand, i int) {
	if x.Loc == locLocal && x.Local == n {
		return
	}
	l := &c.locals[n]
	if !l.init {
		c.initialize(n)
	}
	if l.pin != noReg {
		if x.Loc == locReg && reg(x.Reg) == l.pin {
			// The result landed in the pin; landing saw to aliases.
			return
		}
		c.detach(n)
		c.fill(l.pin, x, i)
		return
	}
	c.detach(n)
	if l.reg != noReg {
		c.dropCache(l.reg)
	}
	c.setCache(n, c.useOwn(x, i), true)
}

// drop compiles drop.
func (c *Compiler) drop(pc int) int {
	if c.popAny() < 0 {
		return fail
	}
	return pc
}

// constI32 compiles i32.const; no code.
func (c *Compiler) constI32(pc int) int {
	v, pc := decoder.S32(c.base, pc)
	c.pushConst(decoder.I32, uint64(uint32(v)))
	return pc
}

// constI64 compiles i64.const; no code.
func (c *Compiler) constI64(pc int) int {
	v, pc := decoder.S64(c.base, pc)
	c.pushConst(decoder.I64, uint64(v))
	return pc
}

// constF32 compiles f32.const; no code.
func (c *Compiler) constF32(pc int) int {
	c.pushConst(decoder.F32, uint64(decoder.Word32(c.base, pc)))
	return pc + 4
}

// constF64 compiles f64.const; no code.
func (c *Compiler) constF64(pc int) int {
	c.pushConst(decoder.F64, decoder.Word64(c.base, pc))
	return pc + 8
}

// globalGet compiles global.get.
func (c *Compiler) globalGet(pc int) int {
	n, pc := decoder.U32(c.base, pc)
	if pc >= fail || int(n) >= len(c.m.Globals) {
		return fail
	}
	t := c.m.Globals[n].Type
	cell := c.globalCell(n)
	d := c.result(pc, t, noReg, noReg)
	c.loadAt(t, d, cell)
	return c.deliver(pc, t, d)
}

// globalSet compiles global.set.
func (c *Compiler) globalSet(pc int) int {
	n, pc := decoder.U32(c.base, pc)
	if pc >= fail || int(n) >= len(c.m.Globals) || !c.m.Globals[n].Mutable {
		return fail
	}
	t := c.m.Globals[n].Type
	i := c.drop1(t)
	if i < 0 {
		return fail
	}
	r := c.take(c.v.Op(i), i)
	c.storeAt(t, c.globalCell(n), r)
	return pc
}

// globalCell is the memory operand of a global. An imported one needs a
// register for its address.
func (c *Compiler) globalCell(n uint32) addr {
	off := c.l.Globals[n]
	if c.m.Globals[n].Init != nil {
		return addr{instReg, noReg, off}
	}
	r := c.alloc(allGP)
	c.loadAt(decoder.I64, r, addr{instReg, noReg, off})
	return addr{r, noReg, 0}
}
