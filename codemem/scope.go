package codemem

import (
	"encoding/binary"
	"fmt"
	"sync/atomic"
	"time"
)

const (
	// funcAlign is the alignment of every allocation in a chunk.
	funcAlign = 16
	// trapByte fills what no function owns. On amd64 it is int3.
	trapByte = 0xcc
)

// Chunk is a piece of a space that one goroutine fills from the bottom up.
type Chunk struct {
	space      *Space
	span       *span
	lo, hi, at uintptr
	scope      WriteScope
	opener     *opener
	opened     time.Time

	// gen is the generation of the scope that may write now. Closing raises
	// it, so neither the closed scope nor a copy of it matches any more.
	gen   atomic.Uint32
	bytes int64 // written through the scope
}

// WriteScope is the right to write the bytes of one chunk until it is closed
// or its space is sealed or freed. Only this package makes one; the zero value
// is no scope. Code that writes code takes one as a parameter and never opens
// one in a loop. It belongs to one goroutine at a time.
//
// Misuse is a bug in the program, not in its input: writing through a nil,
// zero, closed or foreign scope, or out of its range, panics.
type WriteScope struct {
	c   *Chunk
	gen uint32
}

func (s *Space) openChunk(sp *span, lo, hi uintptr, name string) (*Chunk, *WriteScope) {
	c := &Chunk{space: s, span: sp, lo: lo, hi: hi, at: lo, opener: s.opener(name), opened: time.Now()}
	c.gen.Store(1)
	c.scope = WriteScope{c, 1}
	c.opener.scopes.Add(1)
	s.open.Add(1)
	return c, &c.scope
}

// Alloc takes n bytes, aligned to 16, and makes what alignment adds behind
// them traps. It reports false when the chunk hasn't as much room.
func (c *Chunk) Alloc(n int) (addr uintptr, ok bool) {
	size := alignUp(uintptr(max(n, 1)), funcAlign)
	if size > c.hi-c.at {
		return 0, false
	}
	addr = c.at
	last := bytesAt(c.scope.at(addr+size-funcAlign, funcAlign), funcAlign)
	binary.LittleEndian.PutUint64(last, 0x0101010101010101*trapByte)
	binary.LittleEndian.PutUint64(last[8:], 0x0101010101010101*trapByte)
	c.at += size
	return addr, true
}

// Room is how many bytes Alloc could still give.
func (c *Chunk) Room() int { return int(c.hi - c.at) }

// Write stores code at addr.
func (w *WriteScope) Write(addr uintptr, code []byte) {
	copy(bytesAt(w.at(addr, len(code)), uintptr(len(code))), code)
	w.c.bytes += int64(len(code))
}

// Write32 stores v at addr in the byte order of the targets (little-endian).
func (w *WriteScope) Write32(addr uintptr, v uint32) {
	binary.LittleEndian.PutUint32(bytesAt(w.at(addr, 4), 4), v)
	w.c.bytes += 4
}

// Read32 reads the four bytes at addr, within the scope's range as for
// writing: the linker finds the callee of a call in the call itself.
func (w *WriteScope) Read32(addr uintptr) uint32 {
	return binary.LittleEndian.Uint32(bytesAt(w.at(addr, 4), 4))
}

// Close ends the right to write. The unused rest of the chunk goes back to
// the space if no other chunk follows, else it becomes traps.
func (w *WriteScope) Close() {
	c := w.owner()
	if rest := alignUp(c.at, chunkAlign); rest < c.hi && c.span.next.CompareAndSwap(c.hi, rest) {
		c.hi = rest
	}
	if n := c.hi - c.at; n > 0 {
		fillTraps(w.at(c.at, int(n)), n)
	}
	c.gen.Add(1)
	c.opener.bytes.Add(c.bytes)
	c.opener.ns.Add(int64(time.Since(c.opened)))
	c.space.open.Add(-1)
	Trace(Span{Kind: SpanScope, Name: c.opener.name, Start: c.opened, Bytes: c.bytes})
}

// at checks that n bytes at addr may be written now and gives the address to
// write them at. Every write goes through it.
func (w *WriteScope) at(addr uintptr, n int) uintptr {
	c := w.owner()
	if addr < c.lo || addr > c.hi || uintptr(n) > c.hi-addr {
		panic(fmt.Sprintf("codemem: scope of %q may write [%#x, %#x), not %d bytes at %#x",
			c.opener.name, c.lo, c.hi, n, addr))
	}
	return addr
}

// owner checks that the scope is open and gives its chunk.
func (w *WriteScope) owner() *Chunk {
	if w == nil || w.c == nil {
		panic("codemem: nil or zero write scope")
	}
	if w.gen != w.c.gen.Load() {
		panic(fmt.Sprintf("codemem: write scope of %q is closed", w.c.opener.name))
	}
	if st := w.c.space.state.Load(); st != stateFilling {
		panic(fmt.Sprintf("codemem: write scope of %q in a space that is %s", w.c.opener.name, stateName(st)))
	}
	return w.c
}

func fillTraps(addr, n uintptr) {
	if n == 0 {
		return
	}
	b := bytesAt(addr, n)
	b[0] = trapByte
	for done := 1; done < len(b); done *= 2 {
		copy(b[done:], b[:done])
	}
}

// Account is what the scopes of one opener have done in a space. Bytes and
// Open are added when a scope closes.
type Account struct {
	Opener   string
	Scopes   int64         // scopes opened
	Switches int64         // permission switches made on its account
	Bytes    int64         // bytes written
	Open     time.Duration // sum over its scopes of the time they were open
}

type opener struct {
	name                        string
	scopes, switches, bytes, ns atomic.Int64
	next                        *opener
}

// opener finds or adds the account of a name. Names are few and never removed,
// so a list that only grows at its head needs no lock.
func (s *Space) opener(name string) *opener {
	for {
		head := s.openers.Load()
		for o := head; o != nil; o = o.next {
			if o.name == name {
				return o
			}
		}
		o := &opener{name: name, next: head}
		if s.openers.CompareAndSwap(head, o) {
			return o
		}
	}
}

// Accounts gives the account of every opener, the most recent name first.
func (s *Space) Accounts() []Account {
	var a []Account
	for o := s.openers.Load(); o != nil; o = o.next {
		a = append(a, Account{o.name, o.scopes.Load(), o.switches.Load(), o.bytes.Load(), time.Duration(o.ns.Load())})
	}
	return a
}
