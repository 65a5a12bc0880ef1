package amd64

import (
	"fmt"
	"strings"

	"github.com/wasmjit/wasmjit/internal/asmtest"
)

// picker picks operands of this machine.
type picker struct{ *asmtest.Picker }

func newPicker(name string, deck bool) *picker { return &picker{asmtest.NewPicker(name, deck)} }

func (p *picker) reg() Reg     { return Reg(p.Pick(16)) }
func (p *picker) xreg() XReg   { return XReg(p.Pick(16)) }
func (p *picker) size() Size   { return Size(p.Pick(2)) }
func (p *picker) alu() Alu     { return Alu(p.Pick(8)) }
func (p *picker) cond() Cond   { return Cond(p.Pick(16)) }
func (p *picker) double() bool { return p.Pick(2) == 1 }

func (p *picker) shift() Shift {
	return [...]Shift{ROL, ROR, RCL, RCR, SHL, SHR, SAR}[p.Pick(7)]
}

// count is a shift count for the width, often 1, which has a form of its own.
func (p *picker) count(s Size) uint8 {
	n := [...]uint8{0, 1, 2, 7, 15, 16, 30, 31, 32, 33, 62, 63}[p.Pick(12)]
	return n & (32<<s - 1)
}

var edges = [...]int32{0, 1, -1, 127, 128, -128, -129, 255, 256, 32767, -32769,
	65536, 0x12345678, -0x12345678, 1<<31 - 1, -1 << 31}

// imm is an immediate or displacement at or next to a change of encoding.
func (p *picker) imm() int32 {
	if !p.Deck() && p.Pick(4) == 0 {
		return int32(p.Uint32())
	}
	return edges[p.Pick(len(edges))]
}

// mem is an operand with a base, half of the time with an index, sometimes
// with an index alone.
func (p *picker) mem() Mem {
	kind, disp := p.Pick(8), p.imm()
	base, index, scale := p.reg(), Reg(p.Pick(15)), uint8(p.Pick(4))
	if index >= RSP {
		index++
	}
	switch {
	case kind < 4:
		return At(base, disp)
	case kind < 7:
		return AtIdx(base, index, scale, disp)
	default:
		// Without base and scale, an assembler uses the index as a base.
		return AtIdx(NoReg, index, max(scale, 1), disp)
	}
}

// everyMem is a list of operands with every base and every pair of base and
// index, and with every displacement class of each base.
func everyMem() (list []Mem) {
	for b := RAX; b <= R15; b++ {
		for _, d := range [...]int32{0, 127, 128, -128, -129} {
			list = append(list, At(b, d))
		}
		for x := RAX; x <= R15; x++ {
			if x != RSP {
				list = append(list, AtIdx(b, x, uint8(b+x)&3, edges[(b*7+x)&15]))
			}
		}
	}
	return list
}

// Names in the syntax that GNU as reads and x86asm.IntelSyntax prints.

var (
	names64 = strings.Fields("rax rcx rdx rbx rsp rbp rsi rdi r8 r9 r10 r11 r12 r13 r14 r15")
	names32 = strings.Fields("eax ecx edx ebx esp ebp esi edi r8d r9d r10d r11d r12d r13d r14d r15d")
	names16 = strings.Fields("ax cx dx bx sp bp si di r8w r9w r10w r11w r12w r13w r14w r15w")
	names8  = strings.Fields("al cl dl bl spl bpl sil dil r8b r9b r10b r11b r12b r13b r14b r15b")
	aluName = strings.Fields("add or adc sbb and sub xor cmp")
	ccName  = strings.Fields("o no b nb z nz be nbe s ns p np l nl le nle")
	shName  = strings.Fields("rol ror rcl rcr shl shr - sar")
)

func rn(s Size, r Reg) string {
	if s == S64 {
		return names64[r]
	}
	return names32[r]
}

func xn(x XReg) string { return fmt.Sprintf("xmm%d", x) }

func sd(double bool) string {
	if double {
		return "sd"
	}
	return "ss"
}

// ptr is the operand m of the given width in bytes, 0 for an address alone.
func ptr(bytes int, m Mem) string {
	s := map[int]string{0: "", 1: "byte ptr ", 2: "word ptr ", 4: "dword ptr ", 8: "qword ptr ", 16: "xmmword ptr "}[bytes] + "["
	if m.Base != NoReg {
		s += names64[m.Base]
	}
	if m.Index != NoReg {
		if m.Base != NoReg {
			s += "+"
		}
		s += fmt.Sprintf("%d*%s", 1<<m.Scale, names64[m.Index])
	}
	if m.Disp != 0 {
		s += fmt.Sprintf("%+#x", m.Disp)
	}
	return s + "]"
}

func memW(s Size, m Mem) string { return ptr(4<<s, m) }
