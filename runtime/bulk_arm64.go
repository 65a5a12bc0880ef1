//go:build linux

package runtime

import (
	"github.com/wasmjit/wasmjit/asm/arm64"
	"github.com/wasmjit/wasmjit/liftoff"
)

// memory.copy and memory.fill as arena code. Both check their ranges exactly,
// so they never fault; a range out of bounds goes to the Go routine with the
// arguments as they came, and that traps.
//
// The arguments are x0 the immediate, x1 the destination, x2 the source or
// value, x3 the length, all zero-extended to 64 bits. x7 to x17 have no role.

const (
	bulkLen  = arm64.X3
	bulkTmp  = arm64.X9
	bulkData = arm64.X10
	bulkSrc  = arm64.X11
	bulkDst  = arm64.X12
)

// memoryAt makes to the address at in the memory whose index is in to, or goes
// to bad unless bulkLen bytes there are within it. It compares in 64 bits
// without overflow: length <= size and at <= size - length.
func (b *stubBuilder) memoryAt(to, at arm64.Reg, bad *arm64.Label) {
	b.AluShift(arm64.ADD, arm64.S64, to, instReg, to, arm64.LSL, 3)
	b.LdSt(arm64.LDRX, to, to, liftoff.InstHeader)
	b.LdSt(arm64.LDRX, bulkTmp, to, liftoff.MemRecBytes)
	b.AluRR(arm64.SUBS, arm64.S64, bulkTmp, bulkTmp, bulkLen)
	b.BCondL(arm64.LO, bad)
	b.AluRR(arm64.SUBS, arm64.S64, arm64.ZR, at, bulkTmp)
	b.BCondL(arm64.HI, bad)
	b.LdSt(arm64.LDRX, to, to, liftoff.MemRecBase)
	b.AluRR(arm64.ADD, arm64.S64, to, to, at)
}

// pieces are what is left of a move of less than 32 bytes, by the bits of its
// length.
var pieces = [...]struct{ load, store arm64.Access }{
	4: {arm64.LDRQ, arm64.STRQ}, 3: {arm64.LDRX, arm64.STRX}, 2: {arm64.LDRW, arm64.STRW},
	1: {arm64.LDRH, arm64.STRH}, 0: {arm64.LDRB, arm64.STRB},
}

// pieceReg is the register that a piece travels in: v0 for 16 bytes.
func pieceReg(log uint8) arm64.Reg {
	if log == 4 {
		return 0
	}
	return bulkData
}

// blocks calls emit in a loop for each 32 bytes of the length, then rest for
// each bit of what is left.
func (b *stubBuilder) blocks(emit func(), rest func(log uint8)) {
	var last arm64.Label
	top := b.Pos()
	b.AddI(arm64.SUBS, arm64.S64, bulkLen, bulkLen, 32)
	b.BCondL(arm64.LO, &last)
	emit()
	b.PatchBranch(b.B(), top)
	// The low bits of the length are right although 32 too many were taken.
	b.Bind(&last)
	for log := uint8(5); log > 0; log-- {
		var skip arm64.Label
		b.TbzL(false, bulkLen, log-1, &skip)
		rest(log - 1)
		b.Bind(&skip)
	}
}

// memoryCopy moves upwards, or downwards where the destination starts inside
// the source: every block is loaded before it is stored, so those ways no byte
// is overwritten that is still to be read.
func (b *stubBuilder) memoryCopy(slow *arm64.Label) {
	var down arm64.Label
	b.MovRR(arm64.S32, bulkSrc, arm64.X0)
	b.memoryAt(bulkSrc, arm64.X2, slow)
	b.ShiftI(arm64.LSR, arm64.S64, bulkDst, arm64.X0, 32)
	b.memoryAt(bulkDst, arm64.X1, slow)
	b.AluRR(arm64.SUB, arm64.S64, bulkTmp, bulkDst, bulkSrc)
	b.AluRR(arm64.SUBS, arm64.S64, arm64.ZR, bulkTmp, bulkLen)
	b.BCondL(arm64.LO, &down)

	b.blocks(func() {
		b.LdStPairPost(arm64.LDPQ, 0, 1, bulkSrc, 32)
		b.LdStPairPost(arm64.STPQ, 0, 1, bulkDst, 32)
	}, func(log uint8) {
		b.LdStPost(pieces[log].load, pieceReg(log), bulkSrc, 1<<log)
		b.LdStPost(pieces[log].store, pieceReg(log), bulkDst, 1<<log)
	})
	b.Ret()

	b.Bind(&down)
	b.AluRR(arm64.ADD, arm64.S64, bulkSrc, bulkSrc, bulkLen)
	b.AluRR(arm64.ADD, arm64.S64, bulkDst, bulkDst, bulkLen)
	b.blocks(func() {
		b.LdStPairPre(arm64.LDPQ, 0, 1, bulkSrc, -32)
		b.LdStPairPre(arm64.STPQ, 0, 1, bulkDst, -32)
	}, func(log uint8) {
		b.LdStPre(pieces[log].load, pieceReg(log), bulkSrc, -1<<log)
		b.LdStPre(pieces[log].store, pieceReg(log), bulkDst, -1<<log)
	})
	b.Ret()
}

func (b *stubBuilder) memoryFill(slow *arm64.Label) {
	b.MovRR(arm64.S32, bulkDst, arm64.X0)
	b.memoryAt(bulkDst, arm64.X1, slow)
	b.DupB(0, arm64.X2) // the value is its low byte
	b.FmovRV(arm64.S64, bulkData, 0)
	b.blocks(func() {
		b.LdStPairPost(arm64.STPQ, 0, 0, bulkDst, 32)
	}, func(log uint8) {
		b.LdStPost(pieces[log].store, pieceReg(log), bulkDst, 1<<log)
	})
	b.Ret()
}
