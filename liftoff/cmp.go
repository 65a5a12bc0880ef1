package liftoff

import "github.com/wasmjit/wasmjit/decoder"

// cond is a condition after a comparison. For integers it is one machine
// condition; floating-point equality takes two flags.
type cond uint8

const (
	condEq cond = iota
	condNe
	condLtS
	condLtU
	condGtS
	condGtU
	condLeS
	condLeU
	condGeS
	condGeU
	// Floating point. The operands are ordered so that a greater-than
	// condition, false on NaN, serves all four orderings; condFNgt and
	// condFNge are their negations, true on NaN.
	condFEq
	condFNe
	condFGt
	condFGe
	condFNgt
	condFNge
)

// not is the negation of a condition, by condition.
var condNot = [...]cond{
	condEq: condNe, condNe: condEq,
	condLtS: condGeS, condGeS: condLtS, condLtU: condGeU, condGeU: condLtU,
	condGtS: condLeS, condLeS: condGtS, condGtU: condLeU, condLeU: condGtU,
	condFEq: condFNe, condFNe: condFEq,
	condFGt: condFNgt, condFNgt: condFGt, condFGe: condFNge, condFNge: condFGe,
}

// condSwap is the condition for swapped operands.
var condSwap = [...]cond{
	condEq: condEq, condNe: condNe,
	condLtS: condGtS, condGtS: condLtS, condLtU: condGtU, condGtU: condLtU,
	condLeS: condGeS, condGeS: condLeS, condLeU: condGeU, condGeU: condLeU,
}

// comparison is a comparison that has not been emitted yet.
type comparison struct {
	kind cmpKind
	w    uint8 // width or fwidth
	cond cond
	x, y reg
	imm  int32
	off  int32
}

type cmpKind uint8

const (
	cmpRegs     cmpKind = iota // x with y
	cmpImm                     // x with imm
	cmpTest                    // x with itself: against zero
	cmpTestRegs                // x & y with zero
	cmpTestImm                 // x & imm with zero
	cmpFrame                   // x with the frame slot at off
	cmpFloat                   // x with y
)

// regs are the registers that the comparison reads.
func (p *comparison) regs() regSet {
	switch p.kind {
	case cmpRegs, cmpTestRegs, cmpFloat:
		return p.x.bit() | p.y.bit()
	}
	return p.x.bit()
}

// cmp compiles an integer comparison.
func (c *Compiler) cmp(pc int, w width, cc cond) int {
	t := w.typ()
	i := c.drop2(t, t)
	if i < 0 {
		return fail
	}
	x, y := c.v.Op(i), c.v.Op(i+1)
	xi, yi := i, i+1
	if x.Loc == locConst && y.Loc != locConst {
		x, y, xi, yi = y, x, yi, xi
		cc = condSwap[cc]
	}
	ry := c.letGo(y)
	p := comparison{w: uint8(w), cond: cc}
	p.x = c.take(x, xi)
	switch {
	case y.Loc == locConst && y.Bits == 0 && (cc == condEq || cc == condNe):
		p.kind = cmpTest
	case y.Loc == locConst && isImm32(w, y.Bits):
		p.kind, p.imm = cmpImm, int32(y.Bits)
	case y.Loc == locSlot:
		p.kind, p.off = cmpFrame, c.home(yi)
	default:
		p.kind, p.y = cmpRegs, c.taken(ry, y, yi)
	}
	return c.compared(pc, p)
}

// eqz compiles a comparison with zero.
func (c *Compiler) eqz(pc int, w width) int {
	i := c.drop1(w.typ())
	if i < 0 {
		return fail
	}
	return c.compared(pc, comparison{kind: cmpTest, w: uint8(w), cond: condEq, x: c.take(c.v.Op(i), i)})
}

// fcmp compiles a floating-point comparison. "Less" arrives as "greater" with
// swap, since greater-than is the condition that is false on NaN.
func (c *Compiler) fcmp(pc int, w fwidth, cc cond, swap bool) int {
	t := w.typ()
	i := c.drop2(t, t)
	if i < 0 {
		return fail
	}
	x, y := c.v.Op(i), c.v.Op(i+1)
	ry := c.letGo(y)
	rx := c.take(x, i)
	ry = c.taken(ry, y, i+1)
	if swap {
		rx, ry = ry, rx
	}
	return c.compared(pc, comparison{kind: cmpFloat, w: uint8(w), cond: cc, x: rx, y: ry})
}

// compared compiles what follows comparison p, whose registers are locked. If
// the next opcodes invert its outcome, or the next one branches on it or selects
// by it, they are part of it, and the outcome is never a value. Else it becomes
// 0 or 1 in a register.
func (c *Compiler) compared(pc int, p comparison) int {
	for {
		switch decoder.Byte(c.base, pc) {
		case decoder.OpI32Eqz:
			p.cond = condNot[p.cond]
			pc++
			continue
		case decoder.OpI64ExtendI32U:
			// Go's compiler widens the outcome before it asks whether it is zero.
			if decoder.Byte(c.base, pc+1) == decoder.OpI64Eqz {
				p.cond = condNot[p.cond]
				pc += 2
				continue
			}
		case decoder.OpBrIf:
			c.fuse(pc)
			return c.brOn(pc+1, p)
		case decoder.OpIf:
			c.fuse(pc)
			return c.ifOn(pc+1, p)
		case decoder.OpSelect:
			// On amd64 the flags of floating-point equality don't fit one
			// conditional move.
			if c.arm || p.cond != condFEq && p.cond != condFNe {
				c.fuse(pc)
				return c.selectOn(pc+1, decoder.Bot, p)
			}
		}
		return c.deliverBool(pc, p)
	}
}

// fuse makes the opcode at pc part of the one being compiled.
func (c *Compiler) fuse(pc int) {
	c.at = pc
	c.reserve()
}

// deliverBool ends the opcode with the outcome of comparison p as 0 or 1.
func (c *Compiler) deliverBool(pc int, p comparison) int {
	a, b := noReg, noReg
	if p.kind != cmpFloat {
		a = p.x
		if p.kind == cmpRegs || p.kind == cmpTestRegs {
			b = p.y
		}
	}
	d := c.result(pc, decoder.I32, a, b)
	c.setBool(d, p)
	return c.deliver(pc, decoder.I32, d)
}

// popCond takes an i32 off the stack and gives the comparison that tells whether
// it is not zero; ok is false when validation fails.
func (c *Compiler) popCond() (p comparison, ok bool) {
	i := c.drop1(decoder.I32)
	if i < 0 {
		return p, false
	}
	return comparison{kind: cmpTest, cond: condNe, x: c.take(c.v.Op(i), i)}, true
}

// selectOn compiles select, by comparison p, of operands of type t. For the
// untyped form t is Bot and both operands must be of one numeric type.
func (c *Compiler) selectOn(pc int, t decoder.Type, p comparison) int {
	h := c.v.H
	if h-2 < c.v.Floor {
		return fail
	}
	if t == decoder.Bot {
		t = c.v.Op(h - 1).Type
		if t.IsRef() {
			return fail
		}
	}
	i := c.pop2(t, t)
	if i < 0 {
		return fail
	}
	x, y := c.v.Op(i), c.v.Op(i+1)
	// The flags come first: then the compared registers may serve again, and
	// everything up to the conditional move leaves flags alone.
	c.compare(p)
	c.unlockCompared(p, x, y)
	c.flagsLive = true
	ry := c.use(y, i+1)
	rx := c.use(x, i)
	d := c.result(pc, t, rx, noReg)
	if d == ry && d != rx && c.twoAddress() {
		d = c.alloc(classOf(t))
	}
	c.selectReg(t, p.cond, d, rx, ry)
	c.flagsLive = false
	return c.deliver(pc, t, d)
}

// unlockCompared gives the registers of an emitted comparison back, unless
// the operands x and y of the same opcode live there.
func (c *Compiler) unlockCompared(p comparison, x, y *decoder.Operand) {
	keep := regSet(0)
	for _, o := range [...]*decoder.Operand{x, y} {
		if r := c.inReg(o); r != noReg {
			keep |= r.bit()
		}
	}
	c.locked &^= p.regs() &^ keep
}

// selectOp compiles select, in its form with a type immediate if typed.
func (c *Compiler) selectOp(pc int, typed bool) int {
	t := decoder.Bot
	if typed {
		var n uint32
		if n, pc = decoder.U32(c.base, pc); pc >= fail || n != 1 {
			return fail
		}
		if t = decoder.ValType(decoder.Byte(c.base, pc)); t == decoder.Bot {
			return fail
		}
		pc++
	}
	p, ok := c.popCond()
	if !ok {
		return fail
	}
	return c.selectOn(pc, t, p)
}
