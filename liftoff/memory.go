package liftoff

import "github.com/wasmjit/wasmjit/decoder"

// access is the width and extension of a memory access.
type access uint8

const (
	mem8S access = iota
	mem8U
	mem16S
	mem16U
	mem32S
	mem32 // zero-extended
	mem64
)

// log2 of the access size in bytes, the largest alignment it may claim.
var accessLog2 = [...]uint8{mem8S: 0, mem8U: 0, mem16S: 1, mem16U: 1, mem32S: 2, mem32: 2, mem64: 3}

// memArg reads the immediate of a memory instruction.
func (c *Compiler) memArg(pc int, a access) (offset uint32, next int) {
	if w := decoder.Word32(c.base, pc); w&0x8080 == 0 {
		// Both are one byte long, as 72 % of the offsets are.
		if w&0xff > uint32(accessLog2[a]) || len(c.m.Memories) == 0 {
			return 0, fail
		}
		return w >> 8 & 0x7f, pc + 2
	}
	align, pc := decoder.U32(c.base, pc)
	if pc >= fail || align > uint32(accessLog2[a]) || len(c.m.Memories) == 0 {
		return 0, fail
	}
	return decoder.U32(c.base, pc)
}

// maxDisp is the largest offset that a memory operand takes.
const maxDisp = 1<<31 - 1

// address turns the dropped index x (height i) and a constant offset into a
// memory operand, with the check that the bounds mode wants. Arithmetic is in
// 64 bits on a zero-extended index, so no wrap is lost. base is the index's
// register if a result may replace it, else noReg. value is the register of the
// value to be stored, if it is in one.
func (c *Compiler) address(x *decoder.Operand, i int, offset uint32, a access, value reg) (at addr, base reg) {
	if c.o.Bounds == BoundsExplicit {
		c.letGo(x)
		return c.checkedAddress(x, i, offset, a, value)
	}
	if x.Loc == locConst {
		ea := uint64(uint32(x.Bits)) + uint64(offset)
		if ea <= maxDisp {
			return addr{memReg, noReg, int32(ea)}, noReg
		}
		r := c.alloc(allGP)
		c.constant(decoder.I64, r, ea)
		return addr{memReg, r, 0}, r
	}
	r := c.take(x, i)
	if offset <= maxDisp {
		return addr{memReg, r, int32(offset)}, r
	}
	t := c.alloc(allGP)
	c.constant(decoder.I32, t, uint64(offset))
	c.binopReg(w64, opAdd, t, t, r)
	return addr{memReg, t, 0}, t
}

// load compiles a load of an integer.
func (c *Compiler) load(pc int, w width, a access) int {
	offset, pc := c.memArg(pc, a)
	i := c.drop1(decoder.I32)
	if pc >= fail || i < 0 {
		return fail
	}
	t := w.typ()
	at, base := c.address(c.v.Op(i), i, offset, a, noReg)
	if op, ok := c.foldable(pc, t, a); ok {
		return c.binopMem(pc+1, w, op, at, base)
	}
	d := c.result(pc, t, base, noReg)
	c.loadMem(w, a, d, at)
	c.faultHere()
	return c.deliver(pc, t, d)
}

// fload compiles a load of a floating-point number.
func (c *Compiler) fload(pc int, w fwidth, a access) int {
	offset, pc := c.memArg(pc, a)
	i := c.drop1(decoder.I32)
	if pc >= fail || i < 0 {
		return fail
	}
	t := w.typ()
	at, _ := c.address(c.v.Op(i), i, offset, a, noReg)
	if op, ok := c.ffoldable(pc, t); ok {
		return c.fbinopMem(pc+1, w, op, at)
	}
	d := c.result(pc, t, noReg, noReg)
	c.floadMem(w, d, at)
	c.faultHere()
	return c.deliver(pc, t, d)
}

// store compiles a store of an integer. A constant that fits an immediate
// needs no register.
func (c *Compiler) store(pc int, w width, a access) int {
	offset, pc := c.memArg(pc, a)
	i := c.drop2(decoder.I32, w.typ())
	if pc >= fail || i < 0 {
		return fail
	}
	x, y := c.v.Op(i), c.v.Op(i+1)
	ry := c.letGo(y)
	at, _ := c.address(x, i, offset, a, ry)
	if y.Loc == locConst && (a != mem64 || isImm32(w64, y.Bits)) {
		c.storeMemConst(a, at, int32(y.Bits))
	} else {
		c.storeMem(a, at, c.taken(ry, y, i+1))
	}
	c.faultHere()
	return pc
}

// fstore compiles a store of a floating-point number. A constant is stored as
// its bits.
func (c *Compiler) fstore(pc int, w fwidth, a access) int {
	offset, pc := c.memArg(pc, a)
	i := c.drop2(decoder.I32, w.typ())
	if pc >= fail || i < 0 {
		return fail
	}
	x, y := c.v.Op(i), c.v.Op(i+1)
	ry := c.letGo(y)
	at, _ := c.address(x, i, offset, a, ry)
	if y.Loc == locConst && (w == f32 || isImm32(w64, y.Bits)) {
		c.storeMemConst(a, at, int32(y.Bits))
	} else {
		c.fstoreMem(w, at, c.taken(ry, y, i+1))
	}
	c.faultHere()
	return pc
}

// foldable reports whether the value of a load with access a becomes the right
// operand of the operation at pc at once, so that a machine with memory
// operands needs no load of its own. Nothing stands between the two, so the
// order of accesses and traps stays.
func (c *Compiler) foldable(pc int, t decoder.Type, a access) (intOp, bool) {
	op := decoder.Byte(c.base, pc)
	switch {
	case c.arm:
		return 0, false
	case a == mem64:
		op -= decoder.OpI64Add
	case a == mem32 && t == decoder.I32:
		op -= decoder.OpI32Add
	default:
		return 0, false
	}
	if int(op) >= len(foldedInt) || foldedInt[op] < 0 {
		return 0, false
	}
	i := c.v.H - 1
	if i < c.v.Floor || c.v.Op(i).Type != t || c.v.Op(i).Loc == locConst {
		return 0, false
	}
	return intOp(foldedInt[op]), true
}

// foldedInt are the operations by opcode, counted from add.
var foldedInt = [...]int8{
	0: int8(opAdd), 1: int8(opSub), 2: int8(opMul), 3: -1, 4: -1, 5: -1, 6: -1,
	7: int8(opAnd), 8: int8(opOr), 9: int8(opXor),
}

// binopMem compiles an operation whose right operand is in memory; base is a
// register of its address.
func (c *Compiler) binopMem(pc int, w width, op intOp, at addr, base reg) int {
	t := w.typ()
	i := c.drop1(t)
	rx := c.take(c.v.Op(i), i)
	d := c.result(pc, t, rx, noReg)
	if d == base && d != rx {
		// The pin that the result is meant for is the address.
		d = c.alloc(allGP)
	}
	c.move(t, d, rx)
	c.binopAt(w, op, d, at)
	c.faultHere()
	return c.deliver(pc, t, d)
}

// ffoldable is foldable for floating-point operations.
func (c *Compiler) ffoldable(pc int, t decoder.Type) (floatOp, bool) {
	first := byte(decoder.OpF32Add)
	if t == decoder.F64 {
		first = decoder.OpF64Add
	}
	op := floatOp(decoder.Byte(c.base, pc) - first)
	i := c.v.H - 1
	if c.arm || op > opFDiv || i < c.v.Floor || c.v.Op(i).Type != t {
		return 0, false
	}
	return op, true
}

// fbinopMem compiles a floating-point operation whose right operand is in
// memory.
func (c *Compiler) fbinopMem(pc int, w fwidth, op floatOp, at addr) int {
	t := w.typ()
	i := c.drop1(t)
	rx := c.take(c.v.Op(i), i)
	d := c.result(pc, t, rx, noReg)
	c.move(t, d, rx)
	c.fbinopAt(w, op, d, at)
	c.faultHere()
	return c.deliver(pc, t, d)
}

// memorySize compiles memory.size.
func (c *Compiler) memorySize(pc int) int {
	n, pc := c.zeroIndex(pc)
	if pc >= fail {
		return fail
	}
	d := c.result(pc, decoder.I32, noReg, noReg)
	c.memoryPages(d, n)
	return c.deliver(pc, decoder.I32, d)
}

// zeroIndex reads the memory index of an instruction; only memory 0 exists
// before the multi-memory proposal, and its index is a single zero byte.
func (c *Compiler) zeroIndex(pc int) (uint32, int) {
	if decoder.Byte(c.base, pc) != 0 || len(c.m.Memories) == 0 {
		return 0, fail
	}
	return 0, pc + 1
}
