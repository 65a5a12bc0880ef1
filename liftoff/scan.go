package liftoff

import (
	"math/bits"
	"unsafe"

	"github.com/wasmjit/wasmjit/decoder"
)

// The scan's automaton steps over a body byte by byte to find where opcodes
// start. A row per byte value has a field per state; a shift by the present
// state brings the field that counts to the lowest bits, whose value is the next
// state. So the only thing that one byte waits for is the shift of the one
// before, and no branch depends on an opcode. Walking from opcode to opcode
// waits for two loads per opcode, and for a mispredicted branch in every second.
//
// The states, each the shift that brings its field down.
const (
	scanOpcode = 8 * iota // the next byte is an opcode
	scanLEB1              // in the last integer of an immediate
	scanLEB2              // in the last but one
	scanSkip1             // one more byte of a constant follows
	scanSkip2
	scanSkip3
	scanSkip4
	scanLost // behind an opcode whose immediate is none of these
)

// Marks of a byte, in the field that led to the state behind it.
const (
	scanAccess = 0x40 // it accesses a local
	scanBlock  = 0x80 // it opens or ends a block, or leads to scanLost
	scanLoop   = scanAccess | scanBlock
)

// scanChunk is how many bytes findMarks looks at in one go: a bit each.
const scanChunk = 64

// A chunk may pass the end of the last body.
const _ = uint(decoder.Padding - scanChunk)

// marks is a set of the bytes of a chunk.
type marks uint64

// first is the least byte of the set.
func (m marks) first() int { return bits.TrailingZeros64(uint64(m)) }

// findMarks runs the automaton from state over the scanChunk bytes from p on. It
// gives the accesses to locals, the opcodes that open or end blocks, those among
// them that are loops, and the state at the end. In the state scanLost the last
// of blocks is the opcode where it lost its way.
//
// Inlined, it would be short of registers.
//
//go:noinline
func (h *hints) findMarks(p unsafe.Pointer, state uint64) (accesses, blocks, loops marks, last uint64) {
	rows := &scanRows
	states := unsafe.Pointer(&h.states)
	for i := 0; i < scanChunk; i += 8 {
		state = rows[decoder.Byte(p, i)] >> (state & 63)
		*(*byte)(unsafe.Add(states, i)) = byte(state)
		state = rows[decoder.Byte(p, i+1)] >> (state & 63)
		*(*byte)(unsafe.Add(states, i+1)) = byte(state)
		state = rows[decoder.Byte(p, i+2)] >> (state & 63)
		*(*byte)(unsafe.Add(states, i+2)) = byte(state)
		state = rows[decoder.Byte(p, i+3)] >> (state & 63)
		*(*byte)(unsafe.Add(states, i+3)) = byte(state)
		state = rows[decoder.Byte(p, i+4)] >> (state & 63)
		*(*byte)(unsafe.Add(states, i+4)) = byte(state)
		state = rows[decoder.Byte(p, i+5)] >> (state & 63)
		*(*byte)(unsafe.Add(states, i+5)) = byte(state)
		state = rows[decoder.Byte(p, i+6)] >> (state & 63)
		*(*byte)(unsafe.Add(states, i+6)) = byte(state)
		state = rows[decoder.Byte(p, i+7)] >> (state & 63)
		*(*byte)(unsafe.Add(states, i+7)) = byte(state)
	}
	for i := 0; i < scanChunk; i += 8 {
		w := *(*uint64)(unsafe.Add(states, i))
		accesses = accesses>>8 | topBits(w*(scanBlock/scanAccess))<<56
		blocks = blocks>>8 | topBits(w)<<56
	}
	return accesses &^ blocks, blocks, accesses & blocks, state & 63
}

// topBits gathers the highest bits of the bytes of w.
func topBits(w uint64) marks {
	return marks(w & 0x8080808080808080 * 0x0002040810204081 >> 56)
}

// scanRows are the rows of the automaton.
var scanRows = makeScanRows()

func makeScanRows() (rows [256]uint64) {
	for b := range rows {
		next := [...]uint64{
			scanLEB1: scanOpcode, scanLEB2: scanLEB1,
			scanSkip1: scanOpcode, scanSkip2: scanSkip1, scanSkip3: scanSkip2, scanSkip4: scanSkip3,
			scanLost: scanLost,
		}
		if b >= 0x80 {
			next[scanLEB1], next[scanLEB2] = scanLEB1, scanLEB2
		}
		switch n := decoder.SimpleLEBs[b]; {
		case b == decoder.OpF32Const:
			next[scanOpcode] = scanSkip4
		case n == decoder.NotSimple:
			next[scanOpcode] = scanLost | scanBlock
		default:
			next[scanOpcode] = [...]uint64{scanOpcode, scanLEB1, scanLEB2}[n]
		}
		switch {
		case b == decoder.OpLocalGet || b == decoder.OpLocalSet || b == decoder.OpLocalTee:
			next[scanOpcode] |= scanAccess
		case b == decoder.OpLoop:
			next[scanOpcode] |= scanLoop
		case scanBlocks[b] != 0:
			next[scanOpcode] |= scanBlock
		}
		for state := scanOpcode; state <= scanLost; state += 8 {
			rows[b] |= next[state] << state
		}
	}
	return rows
}
