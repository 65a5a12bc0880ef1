package arm64

import (
	"fmt"

	"github.com/wasmjit/wasmjit/internal/asmtest"
)

// picker picks operands of this machine.
type picker struct{ *asmtest.Picker }

func newPicker(name string, deck bool) *picker { return &picker{asmtest.NewPicker(name, deck)} }

// reg is a register but number 31, which forms name by its meaning.
func (p *picker) reg() Reg     { return Reg(p.Pick(31)) }
func (p *picker) reg31() Reg   { return Reg(p.Pick(32)) }
func (p *picker) vreg() VReg   { return VReg(p.Pick(32)) }
func (p *picker) size() Size   { return Size(p.Pick(2)) }
func (p *picker) bool() bool   { return p.Pick(2) == 1 }
func (p *picker) double() bool { return p.Pick(2) == 1 }
func (p *picker) cond() Cond   { return Cond(p.Pick(14)) }

// oneOf chooses a value of a list.
func oneOf[T any](p *picker, list []T) T { return list[p.Pick(len(list))] }

// amount is a shift below the width.
func (p *picker) amount(s Size) uint8 {
	return oneOf(p, []uint8{0, 1, 2, 7, 15, 16, 30, 31, 32, 33, 62, 63}) & (s.bits() - 1)
}

// logical is an immediate of logical operations.
func (p *picker) logical(s Size) uint64 {
	size := 2 << p.Pick(5+int(s))
	v := bitMask(size, 1+p.Pick(64)%(size-1), p.Pick(64)%size)
	if s == S32 {
		v = uint64(uint32(v))
	}
	return v
}

// Names in the syntax of GNU as.

func gn(s Size, r Reg) string {
	prefix := "w"
	if s == S64 {
		prefix = "x"
	}
	if r == ZR {
		return prefix + "zr"
	}
	return fmt.Sprintf("%s%d", prefix, r)
}

// sn is gn where number 31 is the stack pointer.
func sn(s Size, r Reg) string {
	switch {
	case r != SP:
		return gn(s, r)
	case s == S64:
		return "sp"
	}
	return "wsp"
}

func xn(r Reg) string { return gn(S64, r) }
func bn(r Reg) string { return sn(S64, r) }

func vn(double bool, r VReg) string {
	if double {
		return fmt.Sprintf("d%d", r)
	}
	return fmt.Sprintf("s%d", r)
}

var condNames = [...]string{"eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le"}
