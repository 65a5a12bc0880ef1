package liftoff

import "github.com/wasmjit/wasmjit/decoder"

// scanLimit is how many bytes of a body the scan looks at. Its answers are
// hints and never decide what the code means.
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
	// zero is set unless a write comes first on every path from the entry.
	zero bool
}

// hints are what a scan over a body, before its compile, learns about its
// locals.
type hints struct {
	locals []hint
	loops  []bool // per open block: is it a loop?
	// whole is set if the scan saw the whole body, so that what it didn't see
	// isn't there.
	whole bool
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
	h.locals, h.loops = h.locals[:n], h.loops[:0]
	clear(h.locals)
	for i := range params {
		h.locals[i].weight = 1
	}
	base, end := c.base, c.v.End
	stop := min(end, pc+scanLimit)
	segment, shift := uint32(1), uint(0)
	// Until the first branch, what is executed is all that was seen.
	straight := true
	for pc < stop {
		op := decoder.Byte(base, pc)
		pc++
		switch op {
		case decoder.OpLocalGet, decoder.OpLocalSet, decoder.OpLocalTee:
			var i uint32
			i, pc = decoder.U32(base, pc)
			if int(i) < n {
				l := &h.locals[i]
				if l.last == 0 {
					l.zero = op == decoder.OpLocalGet || !straight
				}
				l.last = uint32(pc)
				if l.seen != segment {
					l.seen = segment
					l.weight += 1 << shift
				}
			}
			continue
		case decoder.OpBlock:
			h.loops = append(h.loops, false)
			segment++
		case decoder.OpIf:
			h.loops = append(h.loops, false)
			segment++
			straight = false
		case decoder.OpLoop:
			h.loops = append(h.loops, true)
			shift = min(shift+3, 24)
			segment++
		case decoder.OpEnd:
			if k := len(h.loops) - 1; k >= 0 {
				if h.loops[k] {
					shift = uint(max(int(shift)-3, 0))
				}
				h.loops = h.loops[:k]
			}
			segment++
		case decoder.OpElse, decoder.OpBr, decoder.OpBrIf, decoder.OpBrTable:
			segment++
			straight = false
		case decoder.OpCall, decoder.OpCallIndirect:
			segment++
		}
		switch n := decoder.SimpleLEBs[op]; n {
		case 0:
		case decoder.NotSimple:
			pc = decoder.SkipImmediate(base, pc, end, op)
		case 2:
			pc = decoder.SkipLEB(base, pc, end)
			fallthrough
		default:
			pc = decoder.SkipLEB(base, pc, end)
		}
	}
	h.whole = pc >= end && end <= stop
}

// deadLocal reports whether no code that can still run reads local i: its last
// access lies behind the opcode being compiled, and in no loop that is open.
// Operands that are aliases of the local are a use that this doesn't know of.
func (c *Compiler) deadLocal(i uint32) bool {
	return c.hints.whole && int(c.hints.locals[i].last) <= c.liveFrom
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
