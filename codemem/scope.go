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
	trapWord  = 0x0101010101010101 * trapByte
	// TrapByte fills what no function owns: on amd64 it is int3, on arm64 four
	// of it are udf.
	TrapByte = trapByte
)

// Chunk is a piece of a space that one goroutine fills from the bottom up.
type Chunk struct {
	space      *Space
	span       *span
	lo, hi, at uintptr
	delta      uintptr // what to add to an address to write there
	scope      WriteScope
	opener     *opener
	opened     time.Time

	// gen is the generation of the scope that may write now. Closing raises
	// it, so neither the closed scope nor a copy of it matches any more.
	gen   atomic.Uint32
	keyed bool  // the policy's
	bytes int64 // written through the scope
	// rights is how long a protection key was open for the writes.
	rights time.Duration

	v8 *writer // of a scope that Open or Enter gave, else nil
}

// WriteScope is the right to write the bytes of one chunk until it is closed
// or its space is sealed or freed; one for publishing has no bytes, but may
// aim slots of the jump table at finished code. Only this package makes one;
// the zero value is no scope. Code that writes code takes one as a parameter
// and never opens one in a loop. It belongs to one goroutine at a time.
//
// Misuse is a bug in the program, not in its input: writing through a nil,
// zero, closed or foreign scope, or out of its range, panics.
type WriteScope struct {
	c   *Chunk
	gen uint32
}

// newScope makes a chunk and its scope. A scope that is not listed is one
// that the mode's pipeline doesn't have: it carries rights and counts nowhere.
func (s *Space) newScope(name string, listed bool) *Chunk {
	c := &Chunk{space: s, keyed: s.policy.keyed, opened: time.Now()}
	if listed {
		c.opener = s.opener(name)
		c.opener.scopes.Add(1)
	} else {
		c.opener = &opener{name: name}
	}
	c.gen.Store(1)
	c.scope = WriteScope{c, 1}
	s.open.Add(1)
	return c
}

// place gives the chunk its bytes.
func (c *Chunk) place(sp *span, lo, hi uintptr) {
	c.span, c.lo, c.hi, c.at, c.delta = sp, lo, hi, lo, sp.delta
}

// Alloc takes n bytes, aligned to 16, and makes what alignment adds behind
// them traps. It reports false when the chunk hasn't as much room.
func (c *Chunk) Alloc(n int) (addr uintptr, ok bool) {
	size := alignUp(uintptr(max(n, 1)), funcAlign)
	if size > c.hi-c.at {
		return 0, false
	}
	addr = c.at
	last := c.scope.at(addr+size-funcAlign, funcAlign)
	if c.keyed {
		c.rights += c.space.key.fill(last, funcAlign)
	} else {
		b := bytesAt(last, funcAlign)
		binary.LittleEndian.PutUint64(b, trapWord)
		binary.LittleEndian.PutUint64(b[8:], trapWord)
	}
	c.at += size
	if c.v8 != nil {
		c.v8.placed = append(c.v8.placed, Range{addr, addr + size})
	}
	return addr, true
}

// Room is how many bytes Alloc could still give.
func (c *Chunk) Room() int { return int(c.hi - c.at) }

// Write stores code at addr.
func (w *WriteScope) Write(addr uintptr, code []byte) {
	at := w.at(addr, len(code))
	if w.c.keyed {
		w.c.writeKeyed(at, code)
	} else {
		copy(bytesAt(at, uintptr(len(code))), code)
	}
	w.c.bytes += int64(len(code))
}

// Write32 stores v at addr in the byte order of the targets (little-endian).
func (w *WriteScope) Write32(addr uintptr, v uint32) {
	at := w.at(addr, 4)
	if w.c.keyed {
		w.c.writeKeyed(at, binary.LittleEndian.AppendUint32(nil, v))
	} else {
		*(*uint32)(pointer(at)) = v // all targets store unaligned words
	}
	w.c.bytes += 4
}

// Read32 reads the four bytes at addr, within the scope's range as for
// writing: the linker finds the callee of a call in the call itself.
func (w *WriteScope) Read32(addr uintptr) uint32 {
	at := w.at(addr, 4)
	if w.c.keyed {
		return binary.LittleEndian.Uint32(w.c.space.Read(addr, 4))
	}
	return *(*uint32)(pointer(at))
}

// writeKeyed stores code where a protection key forbids it to everybody else.
func (c *Chunk) writeKeyed(at uintptr, code []byte) { c.rights += c.space.key.write(at, code) }

// Close ends the right to write. What is left of the chunk becomes traps; of
// a chunk of NewChunk the unused rest first goes back to the space, if no
// other chunk follows. The error of a scope that Open or Enter gave is a
// *SystemError: the code may still be writable, and the space is to be freed.
// NewChunk's have none.
func (w *WriteScope) Close() error {
	c := w.owner()
	if c.v8 != nil {
		return c.closeWriter()
	}
	if rest := alignUp(c.at, chunkAlign); rest < c.hi && c.span.next.CompareAndSwap(c.hi, rest) {
		c.space.handedOut(-int64(c.hi - rest))
		c.hi = rest
	}
	c.fillRest()
	c.end()
	return nil
}

// fillRest makes traps of what no function owns.
func (c *Chunk) fillRest() {
	if n := c.hi - c.at; n > 0 {
		c.rights += c.space.fillTraps(c.scope.at(c.at, int(n)), n)
	}
}

// end closes the books.
func (c *Chunk) end() {
	c.gen.Add(1)
	c.opener.bytes.Add(c.bytes)
	c.opener.ns.Add(int64(time.Since(c.opened)))
	if c.rights > 0 {
		c.space.exposed.charge(c.rights)
	}
	c.space.open.Add(-1)
	Trace(Span{Kind: SpanScope, Name: c.opener.name, Start: c.opened, Bytes: c.bytes})
}

// at checks that n bytes at addr may be written now and gives the address to
// write them at. Every write goes through it.
func (w *WriteScope) at(addr uintptr, n int) uintptr {
	if !w.isOpen() {
		w.misused()
	}
	c := w.c
	if addr < c.lo || addr > c.hi || uintptr(n) > c.hi-addr {
		c.outside(addr, n)
	}
	return addr + c.delta
}

// owner checks that the scope is open and gives its chunk.
func (w *WriteScope) owner() *Chunk {
	if !w.isOpen() {
		w.misused()
	}
	return w.c
}

func (w *WriteScope) isOpen() bool {
	return w != nil && w.c != nil && w.gen == w.c.gen.Load() && w.c.space.state.Load() <= stateLive
}

// outside and misused panic. They stay out of the functions that check: at
// runs twice for each call site that is linked.
//
//go:noinline
func (c *Chunk) outside(addr uintptr, n int) {
	panic(fmt.Sprintf("codemem: scope of %q may write [%#x, %#x), not %d bytes at %#x",
		c.opener.name, c.lo, c.hi, n, addr))
}

//go:noinline
func (w *WriteScope) misused() {
	if w == nil || w.c == nil {
		panic("codemem: nil or zero write scope")
	}
	if w.gen != w.c.gen.Load() {
		panic(fmt.Sprintf("codemem: write scope of %q is closed", w.c.opener.name))
	}
	st := w.c.space.state.Load()
	panic(fmt.Sprintf("codemem: write scope of %q in a space that is %s", w.c.opener.name, stateName(st)))
}

// fillTraps makes n bytes traps. The address is where to write. It tells how
// long a protection key was open for it.
func (s *Space) fillTraps(addr, n uintptr) time.Duration {
	if n == 0 {
		return 0
	}
	if s.policy.keyed {
		return s.key.fill(addr, n)
	}
	b := bytesAt(addr, n)
	b[0] = trapByte
	for done := 1; done < len(b); done *= 2 {
		copy(b[done:], b[:done])
	}
	return 0
}

// read copies code to b. Before the first publication only the writable view
// of mode Dual is readable.
func (s *Space) read(b []byte, addr uintptr) {
	if s.policy.alias && s.state.Load() == stateFilling {
		for _, sp := range s.spans {
			if sp.lo <= addr && addr < sp.hi.Load() {
				addr += sp.delta
				break
			}
		}
	}
	if s.policy.keyed {
		s.key.read(b, addr)
		return
	}
	copy(b, bytesAt(addr, uintptr(len(b))))
}

// Read gives a copy of n bytes of code at addr, which the caller knows to be
// in the space and not freed. Before the first publication nobody else uses
// the space meanwhile.
func (s *Space) Read(addr uintptr, n int) []byte {
	b := make([]byte, n)
	s.read(b, addr)
	return b
}
