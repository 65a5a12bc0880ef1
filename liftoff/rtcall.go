package liftoff

import "github.com/wasmjit/wasmjit/decoder"

// Parameter lists of the runtime routines, without the immediate.
var (
	threeI32   = []decoder.Type{decoder.I32, decoder.I32, decoder.I32}
	oneI32     = threeI32[:1]
	growRef    = [...][]decoder.Type{{decoder.FuncRef, decoder.I32}, {decoder.ExternRef, decoder.I32}}
	fillRef    = [...][]decoder.Type{{decoder.I32, decoder.FuncRef, decoder.I32}, {decoder.I32, decoder.ExternRef, decoder.I32}}
	i32Results = oneI32
)

// memoryGrow compiles memory.grow.
func (c *Compiler) memoryGrow(pc int) int {
	n, pc := c.zeroIndex(pc)
	if pc >= fail {
		return fail
	}
	return c.routine(pc, MemoryGrow, uint64(n), oneI32, i32Results)
}

// rtcall compiles an instruction that a runtime routine carries out.
func (c *Compiler) rtcall(pc int, r Routine) int {
	var imm uint64
	params := threeI32
	var results []decoder.Type
	switch r {
	case MemoryFill:
		var n uint32
		n, pc = c.zeroIndex(pc)
		imm = uint64(n)
	case MemoryCopy:
		var dst, src uint32
		dst, pc = c.zeroIndex(pc)
		if pc < fail {
			src, pc = c.zeroIndex(pc)
		}
		imm = uint64(dst)<<32 | uint64(src)
	case MemoryInit:
		var seg, n uint32
		seg, pc = c.dataIndex(pc)
		if pc < fail {
			n, pc = c.zeroIndex(pc)
		}
		imm = uint64(seg)<<32 | uint64(n)
	case DataDrop:
		var seg uint32
		seg, pc = c.dataIndex(pc)
		imm, params = uint64(seg), nil
	case TableInit, ElemDrop:
		seg, next := decoder.U32(c.base, pc)
		if next >= fail || int64(seg) >= int64(len(c.m.Elems)) {
			return fail
		}
		pc = next
		if r == ElemDrop {
			imm, params = uint64(seg), nil
			break
		}
		table, t, next := c.tableIndex(pc)
		if next >= fail || t != c.m.Elems[seg].Type {
			return fail
		}
		imm, pc = uint64(seg)<<32|uint64(table), next
		c.writesTable(table)
	case TableCopy:
		dst, t, next := c.tableIndex(pc)
		if next >= fail {
			return fail
		}
		src, u, next := c.tableIndex(next)
		if t != u {
			return fail
		}
		imm, pc = uint64(dst)<<32|uint64(src), next
		c.writesTable(dst)
	case TableGrow, TableFill:
		table, t, next := c.tableIndex(pc)
		if next >= fail {
			return fail
		}
		imm, pc = uint64(table), next
		c.writesTable(table)
		if r == TableGrow {
			params, results = growRef[t-decoder.FuncRef], i32Results
		} else {
			params = fillRef[t-decoder.FuncRef]
		}
	}
	if pc >= fail {
		return fail
	}
	return c.routine(pc, r, imm, params, results)
}

// dataIndex reads the index of a data segment, which needs a data count
// section.
func (c *Compiler) dataIndex(pc int) (uint32, int) {
	n, pc := decoder.U32(c.base, pc)
	if pc >= fail || !c.m.HasDataCount || n >= c.m.DataCount {
		return 0, fail
	}
	return n, pc
}

// routineParams are where the parameters of routines travel, behind the
// immediate.
var routineParams = [...]travel{{reg: gpArgs[1]}, {reg: gpArgs[2]}, {reg: gpArgs[3]}}

// routine calls a runtime routine with the immediate and the top operands.
func (c *Compiler) routine(pc int, r Routine, imm uint64, params, results []decoder.Type) int {
	if !c.v.CheckTop(params) {
		return fail
	}
	n := len(params)
	c.beginCall(n, len(results))
	c.lock(gpArgs[0])
	c.passRegs(routineParams[:n])
	c.constant(decoder.I64, gpArgs[0], imm)
	c.callRoutine(r)
	c.dropCaches()
	if len(results) > 0 {
		return c.deliver(pc, decoder.I32, resultGP)
	}
	return pc
}
