package liftoff

import "github.com/wasmjit/wasmjit/decoder"

// scanLimit is how many bytes of a body the scan looks at. Of a longer body it
// learns weights, which are hints; what code may rely on (hints.whole) it
// learns of whole bodies only.
const scanLimit = 32 << 10

// pinWeight is the least weight that earns a local a pin: below it saving and
// restoring the register costs more than it gives.
const pinWeight = 4

// hint is what the scan learns about one local.
type hint struct {
	weight uint32
	seen   uint32 // segment in which the local was last counted
	// last is the position behind the last access. Behind it, and outside of
	// a loop that holds it, the local is dead.
	last uint32
	// zero is set if a read may come before any write, and init while a
	// write, or such a read, covers what follows.
	zero, init bool
}

// hints are what a scan over a body, before its compile, learns about its
// locals.
type hints struct {
	locals []hint
	blocks []openBlock
	// written are the locals that a write initialised, in the order of the
	// writes, until the block that the write is in ends.
	written []uint32
	// whole is set if the scan saw the whole body, so that what it didn't see
	// isn't there.
	whole bool
}

// openBlock is what the scan keeps of a block it is inside of.
type openBlock struct {
	loop    bool
	written int // length of hints.written at its start
}

// leave forgets the initialisations since the start of block b: a branch may
// have gone around them.
func (h *hints) leave(b openBlock) {
	for _, i := range h.written[b.written:] {
		h.locals[i].init = false
	}
	h.written = h.written[:b.written]
}

// used reports whether the body accesses local i at all.
func (h *hints) used(i int) bool { return !h.whole || h.locals[i].last != 0 }

// needsZero reports whether the body may read local i before it writes it.
func (h *hints) needsZero(i int) bool { return !h.whole || h.locals[i].zero }

// scan weighs the locals of the body that starts at pc: the first access in
// each straight-line segment counts 1, eight times more for each loop around
// it. Canonical merges make every label and call a point where an unpinned
// local goes through memory, and this counts those trips. params start at 1,
// since they arrive in registers.
//
// The walk trusts nothing: an opcode it doesn't know ends it.
func (c *Compiler) scan(pc, params int) {
	h := &c.hints
	n := len(c.locals)
	if cap(h.locals) < n {
		h.locals = make([]hint, n+n/2)
	}
	h.locals, h.blocks, h.written = h.locals[:n], h.blocks[:0], h.written[:0]
	clear(h.locals)
	for i := range params {
		h.locals[i].weight, h.locals[i].init = 1, true
	}
	base, end := c.base, c.v.End
	stop := min(end, pc+scanLimit)
	segment, shift := uint32(1), uint(0)
	locals := h.locals
	for pc < stop {
		op := decoder.Byte(base, pc)
		pc++
		class := scanClasses[op]
		if class <= scanTwo && decoder.Word32(base, pc)&longLEB[class] == 0 {
			// The usual case in one test: no immediate, or one-byte integers.
			pc += int(class)
			continue
		}
		switch class {
		case scanTwo:
			pc = decoder.SkipLEB(base, pc, end)
			fallthrough
		case scanOne:
			pc = decoder.SkipLEB(base, pc, end)
		case scanLocal:
			var i uint32
			i, pc = decoder.U32(base, pc)
			if uint(i) < uint(len(locals)) {
				l := &locals[i]
				if !l.init {
					// A write covers what follows in its block (the rule of
					// the function-references proposal for locals without a
					// default). A read leaves the local in need of its zero.
					l.init = true
					if op == decoder.OpLocalGet {
						l.zero = true
					} else {
						h.written = append(h.written, i)
					}
				}
				l.last = uint32(pc)
				if l.seen != segment {
					l.seen = segment
					l.weight += 1 << shift
				}
			}
		case scanBlock:
			loop := op == decoder.OpLoop
			h.blocks = append(h.blocks, openBlock{loop, len(h.written)})
			segment++
			if loop {
				shift = min(shift+3, 24)
			}
			pc = decoder.SkipLEB(base, pc, end)
		case scanEnd:
			if k := len(h.blocks) - 1; k >= 0 {
				if h.blocks[k].loop {
					shift = uint(max(int(shift)-3, 0))
				}
				h.leave(h.blocks[k])
				h.blocks = h.blocks[:k]
			}
			segment++
		case scanElse:
			if k := len(h.blocks) - 1; k >= 0 {
				h.leave(h.blocks[k])
			}
			segment++
		case scanBranch:
			segment++
			pc = decoder.SkipImmediate(base, pc, end, op)
		default:
			pc = decoder.SkipImmediate(base, pc, end, op)
		}
	}
	h.whole = pc >= end && end <= stop
}

// What the scan does with an opcode.
const (
	scanNone   = iota // no immediate
	scanOne           // one integer
	scanTwo           // two integers
	scanOther         // step over it, however that is done
	scanLocal         // an access to a local
	scanBlock         // block, loop, if
	scanEnd           // end
	scanElse          // else
	scanBranch        // branches and calls
)

// longLEB are the bits that are set if one of a class's integers takes more
// than its one byte.
var longLEB = [scanTwo + 1]uint32{scanOne: 0x80, scanTwo: 0x8080}

// scanClasses is what the scan does with each opcode.
var scanClasses = makeScanClasses()

func makeScanClasses() (t [256]uint8) {
	for op := range t {
		switch decoder.SimpleLEBs[op] {
		case 0:
			t[op] = scanNone
		case 1:
			t[op] = scanOne
		case 2:
			t[op] = scanTwo
		default:
			t[op] = scanOther
		}
	}
	for class, ops := range map[uint8][]byte{
		scanLocal:  {decoder.OpLocalGet, decoder.OpLocalSet, decoder.OpLocalTee},
		scanBlock:  {decoder.OpBlock, decoder.OpLoop, decoder.OpIf},
		scanEnd:    {decoder.OpEnd},
		scanElse:   {decoder.OpElse},
		scanBranch: {decoder.OpBr, decoder.OpBrIf, decoder.OpBrTable, decoder.OpCall, decoder.OpCallIndirect},
	} {
		for _, op := range ops {
			t[op] = class
		}
	}
	return t
}

// deadLocal reports whether no code that can still run reads local i: its last
// access lies behind the opcode being compiled, and in no loop that is open.
// Operands that are aliases of the local are a use that this doesn't know of.
func (c *Compiler) deadLocal(i uint32) bool {
	// Where code that can still run begins.
	from := c.at
	if c.loopDepth > 0 {
		from = c.loopStart
	}
	return c.hints.whole && int(c.hints.locals[i].last) <= from
}

// choosePins pins the heaviest locals, at most as many of a kind as there are
// callee-saved registers.
func (c *Compiler) choosePins(pc, params int) {
	if len(c.locals) == 0 {
		return
	}
	c.scan(pc, params)
	if c.o.Reference {
		return
	}
	maxGP, maxFP := len(pinGP), len(pinFP)
	if c.o.FewRegisters {
		maxGP, maxFP = 1, 1
	}
	var bestGP [len(pinGP)]uint64
	var bestFP [len(pinFP)]uint64
	nGP, nFP := 0, 0
	for i := range c.hints.locals {
		w := c.hints.locals[i].weight
		if w < pinWeight {
			continue
		}
		// Heavier first; of equal weights the lower index.
		key := uint64(w)<<32 | uint64(^uint32(i))
		if c.locals[i].typ.IsFloat() {
			nFP = keepBest(bestFP[:maxFP], nFP, key)
		} else {
			nGP = keepBest(bestGP[:maxGP], nGP, key)
		}
	}
	for k, key := range bestGP[:nGP] {
		c.pin(^uint32(key), pinGP[k])
	}
	for k, key := range bestFP[:nFP] {
		c.pin(^uint32(key), pinFP[k])
	}
	c.pinsGP, c.pinsFP = nGP, nFP
}

// pin gives local i the callee-saved register r for the whole function.
func (c *Compiler) pin(i uint32, r reg) {
	c.locals[i].pin, c.locals[i].reg = r, r
}

// keepBest inserts key into the first n entries of best, kept in descending
// order, and returns the new n.
func keepBest(best []uint64, n int, key uint64) int {
	if n == len(best) {
		if n == 0 || best[n-1] >= key {
			return n
		}
		n--
	}
	k := n
	for k > 0 && best[k-1] < key {
		best[k] = best[k-1]
		k--
	}
	best[k] = key
	return n + 1
}
