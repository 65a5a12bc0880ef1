package amd64

// ShiftRI is op dst, n with a constant count below the operand width.
func (a *Asm) ShiftRI(op Shift, s Size, dst Reg, n uint8) {
	if n >= 32<<s {
		panic(errImm)
	}
	if op == 6 {
		panic(errOp)
	}
	t := rexBase | 0xc1<<8 | s.w() | (0xc0|uint64(op)<<3)<<16 | rm1[dst] | uint64(n)<<24
	size := uint64(24)
	if n == 1 {
		t ^= 0xc1<<8 ^ 0xd1<<8
		size = 16
	}
	k := t >> 60
	a.put(t<<k>>8, (size+k)>>3)
}

// ShiftCL is op dst, cl; the hardware takes the count modulo the operand
// width.
func (a *Asm) ShiftCL(op Shift, s Size, dst Reg) {
	if op == 6 {
		panic(errOp)
	}
	a.rr(0xd3<<8|s.w(), Reg(op), dst)
}

// ShiftX is dst = src op count for SHL, SHR and SAR, with the count modulo
// the operand width and without touching the flags. Needs BMI2.
func (a *Asm) ShiftX(op Shift, s Size, dst, src, count Reg) {
	var pp uint64
	switch op {
	case SHL:
		pp = 1
	case SAR:
		pp = 2
	case SHR:
		pp = 3
	default:
		panic(errOp)
	}
	a.vex(2, pp, s, 0xf7, dst, count, src)
}

// Rorx is dst = src rotated right by n, a count below the operand width,
// without touching the flags. Needs BMI2.
func (a *Asm) Rorx(s Size, dst, src Reg, n uint8) {
	if n >= 32<<s {
		panic(errImm)
	}
	a.vex(3, 3, s, 0xf0, dst, 0, src)
	a.put(uint64(n), 1)
}

// vex encodes three registers with a three-byte VEX prefix of opcode map mm
// and mandatory prefix pp. The prefix holds R, X, B and vvvv inverted.
func (a *Asm) vex(mm, pp uint64, s Size, op uint64, reg, vvvv, rm Reg) {
	e := 0xc0<<16 | reg1[reg] | rm1[rm]
	v := vvvvField[vvvv]
	rb := e&4<<5 | e&1<<5 // R and B where VEX has them
	a.put(0xc4|(mm|0xe0^rb)<<8|(pp|uint64(s)<<7|v)<<16|op<<24|e>>16&0xff<<32, 5)
}

// vvvvField is VEX.vvvv by register.
var vvvvField = [16]uint64{0x78, 0x70, 0x68, 0x60, 0x58, 0x50, 0x48, 0x40, 0x38, 0x30, 0x28, 0x20, 0x18, 0x10, 0x08, 0}
