package arm64

import (
	"encoding/binary"
	"unsafe"
)

// maxCode bounds a buffer, so that every position fits an int32.
const maxCode = 1 << 30

// slack is kept free past the reserved room.
const slack = 32

// Asm is a code buffer with a write position. The zero value is ready for
// [Asm.Reset]. It is reused from function to function and isn't safe for
// concurrent use.
//
// Invariant: base is the address of buf[0], and pos <= limit as long as the
// caller reserves before it encodes.
type Asm struct {
	base  unsafe.Pointer
	pos   int
	limit int // len(buf) - slack
	buf   []byte

	reach  reach
	far    bool // conditional branches to unbound labels take the long form
	tooFar bool // one of the short form can't reach its label
}

// Reset empties the buffer and puts the position at headroom, a multiple of 4.
// The bytes below are for a prologue that is known only after the body. With
// far, conditional branches to labels that aren't bound yet take two
// instructions and reach as far as an unconditional one (see [Asm.TooFar]).
func (a *Asm) Reset(headroom int, far bool) {
	if headroom&3 != 0 {
		panic(errImm)
	}
	if a.reach.cond == 0 {
		a.reach = fullReach
	}
	a.far, a.tooFar = far, false
	a.pos = 0
	a.Reserve(headroom)
	a.pos = headroom
}

// Reserve guarantees room for n more bytes of code. Encoders don't check: an
// instruction written beyond the reserved room corrupts memory.
func (a *Asm) Reserve(n int) {
	if n > a.limit-a.pos {
		a.grow(n)
	}
}

// grow moves the code to a buffer of at least twice the size.
//
//go:noinline
func (a *Asm) grow(n int) {
	if a.pos > len(a.buf) {
		panic(errRoom)
	}
	if n < 0 || n > maxCode-slack-a.pos {
		panic(errSize)
	}
	need := a.pos + n + slack
	buf := make([]byte, min(max(need, 2*len(a.buf), 4096), maxCode))
	// Code above the position counts too: after SetPos backwards for a
	// prologue, the body lies there.
	copy(buf, a.buf)
	a.buf = buf
	a.base = unsafe.Pointer(unsafe.SliceData(buf))
	a.limit = len(buf) - slack
}

// Pos is the position of the next instruction in bytes, counted from the
// buffer's start.
func (a *Asm) Pos() int { return a.pos }

// SetPos moves the position, which must lie in the reserved room and be a
// multiple of 4.
func (a *Asm) SetPos(pos int) {
	if uint(pos) > uint(len(a.buf)) || pos&3 != 0 {
		panic(errRoom)
	}
	a.pos = pos
}

// Bytes is the code from position from up to position to, valid until the
// buffer grows or is reset.
func (a *Asm) Bytes(from, to int) []byte { return a.buf[from:to:to] }

// put appends an instruction.
func (a *Asm) put(v uint32) {
	*(*uint32)(unsafe.Add(a.base, a.pos)) = v
	a.pos += 4
}

// read32 and write32 are for instructions already written; unlike put they
// are checked.
func (a *Asm) read32(at int) uint32     { return binary.LittleEndian.Uint32(a.buf[at:]) }
func (a *Asm) write32(at int, v uint32) { binary.LittleEndian.PutUint32(a.buf[at:], v) }
