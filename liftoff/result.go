package liftoff

import "github.com/wasmjit/wasmjit/decoder"

// result picks the register of a result of type t: the pin of the local that
// the next opcode sets, else one of the operand registers a and b (or noReg)
// if nothing else needs it, else a new one. pc is where the next opcode
// stands. Callers must expect a result that equals any operand register.
func (c *Compiler) result(pc int, t decoder.Type, a, b reg) reg {
	if op := decoder.Byte(c.base, pc); op == decoder.OpLocalSet || op == decoder.OpLocalTee {
		if r := c.landing(pc, t); r != noReg {
			return r
		}
	}
	if a != noReg && c.free.has(a) {
		return a
	}
	if b != noReg && c.free.has(b) {
		return b
	}
	return c.alloc(classOf(t))
}

// landing gives the pin of the local that the local.set or local.tee at pc
// writes, if a result may be computed straight into it: its type fits and no
// operand is an alias of the old value.
func (c *Compiler) landing(pc int, t decoder.Type) reg {
	n := uint32(decoder.Byte(c.base, pc+1))
	if n >= 0x80 || int(n) >= len(c.locals) {
		return noReg
	}
	l := &c.locals[n]
	if l.pin == noReg || l.typ != t {
		return noReg
	}
	if c.aliased(n, c.v.H) {
		return noReg
	}
	return l.pin
}

// deliver ends an opcode whose result of type t is in d, and pc where the next
// one stands. If that sets a local, it is part of this one, and the result never
// is an operand. It gives the position of the next opcode then.
func (c *Compiler) deliver(pc int, t decoder.Type, d reg) int {
	op := decoder.Byte(c.base, pc)
	if op != decoder.OpLocalSet && op != decoder.OpLocalTee {
		c.pushReg(t, d)
		return pc
	}
	n := uint32(decoder.Byte(c.base, pc+1))
	if n >= 0x80 || int(n) >= len(c.locals) {
		c.pushReg(t, d)
		return pc
	}
	l := &c.locals[n]
	if l.typ != t || l.pin != d && !c.free.has(d) {
		c.pushReg(t, d)
		return pc
	}
	c.at, c.locked = pc, d.bit()
	x := decoder.Operand{Type: t, Loc: locReg, Reg: uint8(d)}
	c.setLocal(n, &x, c.v.H)
	pc += 2
	if op == decoder.OpLocalTee {
		c.pushAlias(t, n)
	}
	return pc
}
