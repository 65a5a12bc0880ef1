//go:build linux

package runtime

import (
	"github.com/wasmjit/wasmjit/asm/amd64"
	"github.com/wasmjit/wasmjit/liftoff"
	"golang.org/x/sys/cpu"
)

// memory.copy and memory.fill as arena code. Both check their ranges exactly,
// so they never fault; a range out of bounds goes to the Go routine with the
// arguments as they came, and that traps. rbx serves as a scratch register
// and is reloaded from the instance block.
//
// The arguments are rax the immediate, rcx the destination, rdx the source or
// value, rsi the length, all zero-extended to 64 bits.

// repFrom is the length from which the microcoded string instructions win,
// on processors that have fast ones.
const repFrom = 2 << 10

// xmm registers that a block move uses.
const (
	x0 = amd64.XMM0
	x1 = amd64.XMM1
	x2 = amd64.XMM2
	x3 = amd64.XMM3
)

// memoryRecord loads the address of the record of memory dst into dst.
func (b *stubBuilder) memoryRecord(dst amd64.Reg) {
	b.MovRM(amd64.S64, dst, amd64.AtIdx(amd64.R14, dst, 3, liftoff.InstHeader))
}

// checkRange jumps to bad unless [at, at+rsi) lies within the memory of
// record rec, comparing in 64 bits without overflow: rsi <= size and
// at <= size-rsi. It clobbers tmp, which may be rec.
func (b *stubBuilder) checkRange(rec, at, tmp amd64.Reg, bad *amd64.Label) {
	b.MovRM(amd64.S64, tmp, amd64.At(rec, liftoff.MemRecBytes))
	b.AluRR(amd64.SUB, amd64.S64, tmp, amd64.RSI)
	b.JccL(amd64.B, bad)
	b.AluRR(amd64.CMP, amd64.S64, at, tmp)
	b.JccL(amd64.A, bad)
}

// done returns from a bulk routine.
func (b *stubBuilder) done() {
	b.MovRM(amd64.S64, amd64.RBX, amd64.At(amd64.R14, liftoff.InstMemBase))
	b.Ret()
}

func (b *stubBuilder) memoryCopy(slow *amd64.Label) {
	var badSrc, badDst amd64.Label
	b.MovRR(amd64.S32, amd64.RDI, amd64.RAX)
	b.memoryRecord(amd64.RDI)
	b.checkRange(amd64.RDI, amd64.RDX, amd64.RBX, &badSrc)
	b.MovRR(amd64.S64, amd64.RBX, amd64.RAX)
	b.ShiftRI(amd64.SHR, amd64.S64, amd64.RBX, 32)
	b.memoryRecord(amd64.RBX)
	b.AluRM(amd64.ADD, amd64.S64, amd64.RDX, amd64.At(amd64.RDI, liftoff.MemRecBase))
	b.checkRange(amd64.RBX, amd64.RCX, amd64.RDI, &badDst)
	b.MovRM(amd64.S64, amd64.RDI, amd64.At(amd64.RBX, liftoff.MemRecBase))
	b.AluRR(amd64.ADD, amd64.S64, amd64.RDI, amd64.RCX)
	b.move()

	b.Bind(&badDst) // make rdx an offset again
	b.MovRR(amd64.S32, amd64.RDI, amd64.RAX)
	b.memoryRecord(amd64.RDI)
	b.AluRM(amd64.SUB, amd64.S64, amd64.RDX, amd64.At(amd64.RDI, liftoff.MemRecBase))
	b.Bind(&badSrc)
	b.MovRM(amd64.S64, amd64.RBX, amd64.At(amd64.R14, liftoff.InstMemBase))
	b.JmpL(slow)
}

// move copies rsi bytes from rdx to rdi, which may overlap, and returns.
func (b *stubBuilder) move() {
	var small, over16, over32, over64, from8, from4, none amd64.Label
	src := func(disp int32) amd64.Mem { return amd64.At(amd64.RDX, disp) }
	dst := func(disp int32) amd64.Mem { return amd64.At(amd64.RDI, disp) }
	srcEnd := func(disp int32) amd64.Mem { return amd64.AtIdx(amd64.RDX, amd64.RSI, 0, disp) }
	dstEnd := func(disp int32) amd64.Mem { return amd64.AtIdx(amd64.RDI, amd64.RSI, 0, disp) }
	ifLen := func(c amd64.Cond, n int32, to *amd64.Label) {
		b.AluRI(amd64.CMP, amd64.S64, amd64.RSI, n)
		b.JccL(c, to)
	}

	// Up to 64 bytes: everything is loaded before anything is stored, so
	// overlap doesn't matter. The two ends may share bytes.
	b.Bind(&small)
	ifLen(amd64.A, 16, &over16)
	ifLen(amd64.AE, 8, &from8)
	ifLen(amd64.AE, 4, &from4)
	b.TestRR(amd64.S64, amd64.RSI, amd64.RSI)
	b.JccL(amd64.E, &none)
	b.MovRR(amd64.S64, amd64.RCX, amd64.RSI) // 1 to 3: first, middle, last
	b.ShiftRI(amd64.SHR, amd64.S64, amd64.RCX, 1)
	b.LoadZX8(amd64.RAX, src(0))
	b.LoadZX8(amd64.RBX, amd64.AtIdx(amd64.RDX, amd64.RCX, 0, 0))
	b.LoadZX8(amd64.RDX, srcEnd(-1))
	b.MovMR8(dst(0), amd64.RAX)
	b.MovMR8(amd64.AtIdx(amd64.RDI, amd64.RCX, 0, 0), amd64.RBX)
	b.MovMR8(dstEnd(-1), amd64.RDX)
	b.Bind(&none)
	b.done()
	ends := func(label *amd64.Label, s amd64.Size, n int32) {
		b.Bind(label)
		b.MovRM(s, amd64.RAX, src(0))
		b.MovRM(s, amd64.RCX, srcEnd(-n))
		b.MovMR(s, dst(0), amd64.RAX)
		b.MovMR(s, dstEnd(-n), amd64.RCX)
		b.done()
	}
	ends(&from4, amd64.S32, 4)
	ends(&from8, amd64.S64, 8)
	b.Bind(&over16)
	ifLen(amd64.A, 32, &over32)
	b.MovupsRM(x0, src(0))
	b.MovupsRM(x1, srcEnd(-16))
	b.MovupsMR(dst(0), x0)
	b.MovupsMR(dstEnd(-16), x1)
	b.done()
	b.Bind(&over32)
	ifLen(amd64.A, 64, &over64)
	b.MovupsRM(x0, src(0))
	b.MovupsRM(x1, src(16))
	b.MovupsRM(x2, srcEnd(-32))
	b.MovupsRM(x3, srcEnd(-16))
	b.MovupsMR(dst(0), x0)
	b.MovupsMR(dst(16), x1)
	b.MovupsMR(dstEnd(-32), x2)
	b.MovupsMR(dstEnd(-16), x3)
	b.done()

	// More: blocks of 64 from the end that is safe, then the rest as above.
	// A destination inside the source range wants the copy to run down.
	b.Bind(&over64)
	var down, up amd64.Label
	b.MovRR(amd64.S64, amd64.RAX, amd64.RDI)
	b.AluRR(amd64.SUB, amd64.S64, amd64.RAX, amd64.RDX)
	b.AluRR(amd64.CMP, amd64.S64, amd64.RAX, amd64.RSI)
	b.JccL(amd64.B, &down)
	if cpu.X86.HasERMS {
		// Not when the source starts inside the destination: the string
		// instruction would go byte by byte.
		ifLen(amd64.B, repFrom, &up)
		b.Neg(amd64.S64, amd64.RAX)
		b.AluRR(amd64.CMP, amd64.S64, amd64.RAX, amd64.RSI)
		b.JccL(amd64.B, &up)
		b.MovRR(amd64.S64, amd64.RCX, amd64.RSI)
		b.MovRR(amd64.S64, amd64.RSI, amd64.RDX)
		b.RepMovsb()
		b.done()
	}
	block := func(label *amd64.Label, from, to func(int32) amd64.Mem, at int32) {
		b.Bind(label)
		for i := range int32(4) {
			b.MovupsRM(x0+amd64.XReg(i), from(at+16*i))
		}
		for i := range int32(4) {
			b.MovupsMR(to(at+16*i), x0+amd64.XReg(i))
		}
		b.AluRI(amd64.SUB, amd64.S64, amd64.RSI, 64)
	}
	block(&up, src, dst, 0)
	b.Lea(amd64.S64, amd64.RDX, src(64))
	b.Lea(amd64.S64, amd64.RDI, dst(64))
	ifLen(amd64.A, 64, &up)
	b.JmpL(&small)
	block(&down, srcEnd, dstEnd, -64)
	ifLen(amd64.A, 64, &down)
	b.JmpL(&small)
}

func (b *stubBuilder) memoryFill(slow *amd64.Label) {
	var bad, from8, from4, from16, over32, up, none, noRep amd64.Label
	dst := func(disp int32) amd64.Mem { return amd64.At(amd64.RDI, disp) }
	dstEnd := func(disp int32) amd64.Mem { return amd64.AtIdx(amd64.RDI, amd64.RSI, 0, disp) }
	ifLen := func(c amd64.Cond, n int32, to *amd64.Label) {
		b.AluRI(amd64.CMP, amd64.S64, amd64.RSI, n)
		b.JccL(c, to)
	}
	b.MovRR(amd64.S64, amd64.RDI, amd64.RAX)
	b.memoryRecord(amd64.RDI)
	b.checkRange(amd64.RDI, amd64.RCX, amd64.RBX, &bad)
	b.MovRM(amd64.S64, amd64.RDI, amd64.At(amd64.RDI, liftoff.MemRecBase))
	b.AluRR(amd64.ADD, amd64.S64, amd64.RDI, amd64.RCX)
	b.MovZX8RR(amd64.RAX, amd64.RDX) // the value is its low byte
	if cpu.X86.HasERMS {
		ifLen(amd64.B, repFrom, &noRep)
		b.MovRR(amd64.S64, amd64.RCX, amd64.RSI)
		b.RepStosb()
		b.done()
	}
	b.Bind(&noRep)
	b.MovRI64(amd64.RCX, 0x0101010101010101)
	b.ImulRR(amd64.S64, amd64.RAX, amd64.RCX)
	ifLen(amd64.AE, 16, &from16)
	ifLen(amd64.AE, 8, &from8)
	ifLen(amd64.AE, 4, &from4)
	b.TestRR(amd64.S64, amd64.RSI, amd64.RSI)
	b.JccL(amd64.E, &none)
	b.MovRR(amd64.S64, amd64.RCX, amd64.RSI)
	b.ShiftRI(amd64.SHR, amd64.S64, amd64.RCX, 1)
	b.MovMR8(dst(0), amd64.RAX)
	b.MovMR8(amd64.AtIdx(amd64.RDI, amd64.RCX, 0, 0), amd64.RAX)
	b.MovMR8(dstEnd(-1), amd64.RAX)
	b.Bind(&none)
	b.done()
	ends := func(label *amd64.Label, s amd64.Size, n int32) {
		b.Bind(label)
		b.MovMR(s, dst(0), amd64.RAX)
		b.MovMR(s, dstEnd(-n), amd64.RAX)
		b.done()
	}
	ends(&from4, amd64.S32, 4)
	ends(&from8, amd64.S64, 8)
	b.Bind(&from16)
	b.MovdXR(amd64.S64, x0, amd64.RAX)
	b.SseRR(amd64.UNPCKLPD, x0, x0)
	ifLen(amd64.A, 32, &over32)
	b.MovupsMR(dst(0), x0)
	b.MovupsMR(dstEnd(-16), x0)
	b.done()
	// The last 32 bytes first, then blocks up to them.
	b.Bind(&over32)
	b.MovupsMR(dstEnd(-32), x0)
	b.MovupsMR(dstEnd(-16), x0)
	b.Bind(&up)
	b.MovupsMR(dst(0), x0)
	b.MovupsMR(dst(16), x0)
	b.AluRI(amd64.ADD, amd64.S64, amd64.RDI, 32)
	b.AluRI(amd64.SUB, amd64.S64, amd64.RSI, 32)
	ifLen(amd64.A, 32, &up)
	b.done()

	b.Bind(&bad)
	b.MovRM(amd64.S64, amd64.RBX, amd64.At(amd64.R14, liftoff.InstMemBase))
	b.JmpL(slow)
}
