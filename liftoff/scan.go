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
// States, each the shift that brings its field down.
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

// Flags in a field.
const (
	scanAccess = 0x40                   // the byte is the opcode of an access to a local
	scanOther  = 0x80                   // it is another opcode that hints are made of
	scanLoops  = scanAccess | scanOther // it is a loop
)

// scanChunk is how many bytes findEvents looks at in one go: a bit each.
const scanChunk = 64

// A chunk may pass the end of the last body.
const _ = uint(decoder.Padding - scanChunk)

// events is a set of the bytes of a chunk.
type events uint64

// first is the least byte of the set.
func (e events) first() int { return bits.TrailingZeros64(uint64(e)) }

// findEvents runs the automaton from state over the scanChunk bytes from p on.
// It gives the bytes that are accesses to locals, those that are other events,
// those among them that are loops, and the state at the end; in the state
// scanLost the last of the other events is the opcode where it lost its way.
//
// Inlined, it would be short of registers.
//
//go:noinline
func (h *hints) findEvents(p unsafe.Pointer, state uint64) (accesses, others, loops events, last uint64) {
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
		accesses = accesses>>8 | eventBits(w*(scanOther/scanAccess))<<56
		others = others>>8 | eventBits(w)<<56
	}
	return accesses &^ others, others, accesses & others, state & 63
}

// eventBits gathers the highest bits of the bytes of w.
func eventBits(w uint64) events {
	return events(w & 0x8080808080808080 * 0x0002040810204081 >> 56)
}

// What the scan does with an opcode.
const (
	scanNone    = iota // nothing
	scanLocal          // an access to a local
	scanSegment        // a segment ends
	scanLoop           // it ends where a loop starts
	scanBreak          // step over it by other means
)

var (
	// scanClasses is what the scan does with each opcode.
	scanClasses = makeScanClasses()
	// scanRows are the rows of the automaton.
	scanRows = makeScanRows()
)

func makeScanClasses() (t [256]uint8) {
	for class, ops := range map[uint8][]byte{
		scanLocal: {decoder.OpLocalGet, decoder.OpLocalSet, decoder.OpLocalTee},
		scanSegment: {
			decoder.OpBlock, decoder.OpIf, decoder.OpElse, decoder.OpEnd,
			decoder.OpBr, decoder.OpBrIf, decoder.OpCall, decoder.OpCallIndirect,
		},
		scanLoop: {decoder.OpLoop},
	} {
		for _, op := range ops {
			t[op] = class
		}
	}
	for op := range t {
		if decoder.SimpleLEBs[op] > 2 && op != decoder.OpF32Const {
			t[op] = scanBreak
		}
	}
	return t
}

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
		case scanClasses[b] == scanBreak:
			next[scanOpcode] = scanLost
		case b == decoder.OpF32Const:
			next[scanOpcode] = scanSkip4
		default:
			next[scanOpcode] = [...]uint64{scanOpcode, scanLEB1, scanLEB2}[n]
		}
		switch scanClasses[b] {
		case scanNone:
		case scanLocal:
			next[scanOpcode] |= scanAccess
		case scanLoop:
			next[scanOpcode] |= scanLoops
		default:
			next[scanOpcode] |= scanOther
		}
		for state := scanOpcode; state <= scanLost; state += 8 {
			rows[b] |= next[state] << state
		}
	}
	return rows
}
