package amd64

import (
	"encoding/binary"
	"unsafe"
)

// maxCode bounds a buffer, so that every distance within it fits a rel32
// and every position an int32.
const maxCode = 1 << 30

// slack is kept free past the reserved room: an 8-byte store at the last
// reserved byte stays inside the buffer.
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
}

// Reset empties the buffer and puts the position at headroom. The bytes below
// are for a prologue that is known only after the body; see [Asm.Prepend].
func (a *Asm) Reset(headroom int) {
	a.pos = 0
	a.Reserve(headroom)
	a.pos = headroom
}

// Reserve guarantees room for n more bytes of code. Encoders don't check: an
// instruction written beyond the reserved room corrupts memory. An
// instruction is at most 15 bytes.
func (a *Asm) Reserve(n int) {
	if n > a.limit-a.pos {
		a.grow(n)
	}
}

// Room is how many more bytes of code are sure to fit.
func (a *Asm) Room() int { return a.limit - a.pos }

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

// Pos is the position of the next byte, counted from the buffer's start.
func (a *Asm) Pos() int { return a.pos }

// SetPos moves the position, which must lie in the reserved room. Encoders
// store whole words: up to 7 bytes after an instruction lose their contents. So
// code behind the position can't be kept while writing there; a prologue goes in
// front of a body by [Asm.Prepend].
func (a *Asm) SetPos(pos int) {
	if uint(pos) > uint(len(a.buf)) {
		panic(errRoom)
	}
	a.pos = pos
}

// Prepend moves the last code, from position from on, to the bytes just below
// position at, and returns its start. The position goes back to from. The code
// moved must not refer to other code, nor be referred to.
func (a *Asm) Prepend(from, at int) int {
	n := a.pos - from
	if n < 0 || n > at || at > from {
		panic(errRoom)
	}
	copy(a.buf[at-n:at], a.buf[from:a.pos])
	a.pos = from
	return at - n
}

// Bytes is the code from position from up to position to, valid until the
// buffer grows or is reset.
func (a *Asm) Bytes(from, to int) []byte { return a.buf[from:to:to] }

// put appends the n low bytes of v.
func (a *Asm) put(v uint64, n uint64) {
	*(*uint64)(unsafe.Add(a.base, a.pos)) = v
	a.pos += int(n)
}

// put32 appends four bytes.
func (a *Asm) put32(v uint32) {
	*(*uint32)(unsafe.Add(a.base, a.pos)) = v
	a.pos += 4
}

// read32 and write32 are for fields of code already written; unlike put they
// are checked.
func (a *Asm) read32(at int) uint32     { return binary.LittleEndian.Uint32(a.buf[at:]) }
func (a *Asm) write32(at int, v uint32) { binary.LittleEndian.PutUint32(a.buf[at:], v) }
