package amd64

import "testing"

// perOp is the number of instructions of one benchmark round, with operands
// that change from one to the next as they do in a compiler.
const perOp = 1024

type operands struct {
	d, s Reg
	x, y XReg
	size Size
	op   Alu
	cc   Cond
	imm  int32
	m    Mem
}

func benchOperands() (list [perOp]operands) {
	p := newPicker("bench", false)
	for i := range list {
		// Operands as Liftoff has them: low registers mostly, frame slots
		// and memory accesses through rbx, mostly small immediates.
		o := operands{d: Reg(p.Pick(14)), s: Reg(p.Pick(14)), x: p.xreg(), y: p.xreg(),
			size: p.size(), op: p.alu(), cc: p.cond(), imm: int32(p.Pick(64))}
		if p.Pick(4) == 0 {
			o.imm = p.imm()
		}
		switch p.Pick(3) {
		case 0:
			o.m = At(RBP, -8*int32(1+p.Pick(30)))
		case 1:
			o.m = At(R14, o.imm)
		default:
			o.m = AtIdx(RBX, o.d, 0, o.imm)
			if o.d == RSP {
				o.m.Index = RCX
			}
		}
		list[i] = o
	}
	return list
}

func benchEncoder(b *testing.B, emit func(a *Asm, list *[perOp]operands)) {
	var a Asm
	list := benchOperands()
	a.Reset(0)
	a.Reserve(16 * perOp)
	for b.Loop() {
		a.Reset(0)
		emit(&a, &list)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/perOp, "ns/instr")
	b.ReportMetric(float64(a.Pos())/perOp, "bytes/instr")
	b.ReportMetric(0, "ns/op")
}

func BenchmarkNothing(b *testing.B) {
	benchEncoder(b, func(a *Asm, list *[perOp]operands) {
		for i := range list {
			a.pos += int(list[i].d)
		}
	})
}

func BenchmarkAluRR(b *testing.B) {
	benchEncoder(b, func(a *Asm, list *[perOp]operands) {
		for i := range list {
			o := &list[i]
			a.AluRR(o.op, o.size, o.d, o.s)
		}
	})
}

func BenchmarkAluRI(b *testing.B) {
	benchEncoder(b, func(a *Asm, list *[perOp]operands) {
		for i := range list {
			o := &list[i]
			a.AluRI(o.op, o.size, o.d, o.imm)
		}
	})
}

func BenchmarkMovRR(b *testing.B) {
	benchEncoder(b, func(a *Asm, list *[perOp]operands) {
		for i := range list {
			o := &list[i]
			a.MovRR(o.size, o.d, o.s)
		}
	})
}

func BenchmarkMovRI32(b *testing.B) {
	benchEncoder(b, func(a *Asm, list *[perOp]operands) {
		for i := range list {
			o := &list[i]
			a.MovRI32(o.d, uint32(o.imm))
		}
	})
}

func BenchmarkMovRM(b *testing.B) {
	benchEncoder(b, func(a *Asm, list *[perOp]operands) {
		for i := range list {
			o := &list[i]
			a.MovRM(o.size, o.d, o.m)
		}
	})
}

func BenchmarkMovMR(b *testing.B) {
	benchEncoder(b, func(a *Asm, list *[perOp]operands) {
		for i := range list {
			o := &list[i]
			a.MovMR(o.size, o.m, o.s)
		}
	})
}

// BenchmarkMovRMSlot is MovRM with an operand built at the call, as for a
// frame slot.
func BenchmarkMovRMSlot(b *testing.B) {
	benchEncoder(b, func(a *Asm, list *[perOp]operands) {
		for i := range list {
			o := &list[i]
			a.MovRM(S64, o.d, At(RBP, o.imm))
		}
	})
}

func BenchmarkLea(b *testing.B) {
	benchEncoder(b, func(a *Asm, list *[perOp]operands) {
		for i := range list {
			o := &list[i]
			a.Lea(o.size, o.d, o.m)
		}
	})
}

func BenchmarkLoadZX8(b *testing.B) {
	benchEncoder(b, func(a *Asm, list *[perOp]operands) {
		for i := range list {
			o := &list[i]
			a.LoadZX8(o.d, o.m)
		}
	})
}

func BenchmarkJcc(b *testing.B) {
	benchEncoder(b, func(a *Asm, list *[perOp]operands) {
		for i := range list {
			a.Jcc(list[i].cc)
		}
	})
}

func BenchmarkJccL(b *testing.B) {
	benchEncoder(b, func(a *Asm, list *[perOp]operands) {
		var l Label
		for i := range list {
			a.JccL(list[i].cc, &l)
		}
		a.Bind(&l)
	})
}

func BenchmarkCmov(b *testing.B) {
	benchEncoder(b, func(a *Asm, list *[perOp]operands) {
		for i := range list {
			o := &list[i]
			a.Cmov(o.cc, o.size, o.d, o.s)
		}
	})
}

func BenchmarkSseRR(b *testing.B) {
	benchEncoder(b, func(a *Asm, list *[perOp]operands) {
		for i := range list {
			o := &list[i]
			a.SseRR(ADDSD, o.x, o.y)
		}
	})
}

func BenchmarkMovsdRM(b *testing.B) {
	benchEncoder(b, func(a *Asm, list *[perOp]operands) {
		for i := range list {
			o := &list[i]
			a.MovsdRM(o.x, o.m)
		}
	})
}
