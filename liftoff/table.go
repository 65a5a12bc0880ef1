package liftoff

import "github.com/wasmjit/wasmjit/decoder"

// refNull pushes the null reference, the constant 0.
func (c *Compiler) refNull(pc int) int {
	t, pc := decoder.HeapType(c.base, pc)
	if pc >= fail {
		return fail
	}
	c.pushConst(t, 0)
	return pc
}

// refIsNull compiles ref.is_null.
func (c *Compiler) refIsNull(pc int) int {
	i := c.popAny()
	if i < 0 || !c.v.Op(i).Type.IsRef() {
		return fail
	}
	x := c.use(c.v.Op(i), i)
	return c.compared(pc, comparison{kind: cmpTest, w: uint8(w64), cond: condEq, x: x})
}

// refFunc compiles ref.func: the address of the function's record.
func (c *Compiler) refFunc(pc int) int {
	fn, pc := decoder.U32(c.base, pc)
	if pc >= fail || !c.m.HasRefFunc(fn) {
		return fail
	}
	d := c.result(pc, decoder.FuncRef, noReg, noReg)
	c.instanceAddr(d, c.l.Record(fn))
	return c.deliver(pc, decoder.FuncRef, d)
}

// tableIndex reads a table index.
func (c *Compiler) tableIndex(pc int) (table uint32, t decoder.Type, next int) {
	table, pc = decoder.U32(c.base, pc)
	if pc >= fail || int64(table) >= int64(len(c.m.Tables)) {
		return 0, 0, fail
	}
	return table, c.m.Tables[table].Elem, pc
}

// WrittenTables tells which tables the functions compiled so far can change: a
// bit per table index, the last one for all from 63 on.
func (c *Compiler) WrittenTables() uint64 { return c.written }

func (c *Compiler) writesTable(table uint32) { c.written |= TableBit(table) }

// TableBit is the bit of a table in WrittenTables.
func TableBit(table uint32) uint64 { return 1 << min(table, 63) }

// tableGet compiles table.get.
func (c *Compiler) tableGet(pc int) int {
	table, t, pc := c.tableIndex(pc)
	if pc >= fail {
		return fail
	}
	i := c.pop1(decoder.I32)
	if i < 0 {
		return fail
	}
	index := c.use(c.v.Op(i), i)
	d := c.alloc(allGP)
	c.tableSlot(d, index, table)
	c.loadEntry(d, d, index)
	return c.deliver(pc, t, d)
}

// tableSet compiles table.set.
func (c *Compiler) tableSet(pc int) int {
	table, t, pc := c.tableIndex(pc)
	if pc >= fail {
		return fail
	}
	i := c.pop2(decoder.I32, t)
	if i < 0 {
		return fail
	}
	c.writesTable(table)
	index := c.use(c.v.Op(i), i)
	value := c.use(c.v.Op(i+1), i+1)
	entries := c.alloc(allGP)
	c.tableSlot(entries, index, table)
	c.storeEntry(entries, index, value)
	return pc
}

// tableSize compiles table.size.
func (c *Compiler) tableSize(pc int) int {
	table, _, pc := c.tableIndex(pc)
	if pc >= fail {
		return fail
	}
	d := c.result(pc, decoder.I32, noReg, noReg)
	c.tableLength(d, table)
	return c.deliver(pc, decoder.I32, d)
}

// tableRecord emits d = the address of a table's record.
func (c *Compiler) tableRecord(d reg, table uint32) {
	c.loadAt(decoder.I64, d, addr{instReg, noReg, c.l.Tables + 8*int32(table)})
}

// tableLength emits d = the length of a table.
func (c *Compiler) tableLength(d reg, table uint32) {
	c.tableRecord(d, table)
	c.loadAt(decoder.I64, d, addr{d, noReg, TableRecLen})
}

// tableSlot checks index against a table's length and emits d = the address
// of the table's entries.
func (c *Compiler) tableSlot(d, index reg, table uint32) {
	c.checkTable(d, index, table, TrapTableOutOfBounds)
	c.loadAt(decoder.I64, d, addr{d, noReg, TableRecBase})
}
