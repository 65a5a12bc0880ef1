package liftoff

import (
	"math/bits"
	"unsafe"

	"github.com/wasmjit/wasmjit/decoder"
)

// scanLimit is how many bytes of a body the scan looks at. Of a longer body it
// learns weights, which are hints; what code may rely on (hints.whole) it
// learns of whole bodies only.
const scanLimit = 32 << 10

// pinWeight is the least weight that earns a local a pin: below it saving and
// restoring the register costs more than it gives.
const pinWeight = max(6, heavyWeight)

// hint is what the scan learns about one local.
type hint struct {
	weight uint32
	// last is the position behind the last access. Behind it, and outside of
	// a loop that holds it, the local is dead.
	last uint32
}

// hints are what a scan over a body, before its compile, learns about its
// locals.
type hints struct {
	locals []hint
	states [scanChunk]byte // of the automaton, in findMarks
	// whole is set if the scan saw the whole body, so that what it didn't see
	// isn't there.
	whole bool
}

// unused is hint.last of a local that the body doesn't access, or, if the scan
// can't know of any, of none.
func (h *hints) unused() uint32 {
	if h.whole {
		return 0
	}
	return 1<<32 - 1
}

// scan weighs the locals of the body that starts at pc: each access counts 1,
// eight times more for each loop around it. params start at 1, since they arrive
// in registers.
//
// Canonical merges make labels and calls the points where an unpinned local goes
// through memory. To count the stretches between them in which a local occurs
// chooses no better, and takes longer.
func (c *Compiler) scan(pc, params int) {
	h := &c.hints
	n := len(c.locals)
	if cap(h.locals) < n {
		h.locals = make([]hint, n+n/2)
	}
	h.locals = h.locals[:n]
	clear(h.locals)
	for i := range params {
		h.locals[i].weight = 1
	}
	base, end := c.base, c.v.End
	stop := min(end, pc+scanLimit)
	var loops loopNest
	state := uint64(scanOpcode)
	for pc < stop {
		accesses, blocks, heads, next := h.findMarks(unsafe.Add(base, pc), state)
		state = next
		lost := pc + bits.Len64(uint64(blocks)) // if it is
		if stop-pc < scanChunk {
			accesses &= 1<<(stop-pc) - 1
			blocks &= 1<<(stop-pc) - 1
			heads &= 1<<(stop-pc) - 1
		}
		if loops.depth|uint64(heads) != 0 {
			accesses = h.countLoops(&loops, base, pc, accesses, blocks, heads)
		}
		h.count(base, pc, accesses, loops.shift())
		if state != scanLost || lost > stop {
			pc += scanChunk
			continue
		}
		pc, state = decoder.SkipImmediate(base, lost, end, decoder.Byte(base, lost-1)), scanOpcode
	}
	h.whole = pc >= end && end <= stop
}

// loopNest is the scan's idea of the blocks that are open inside of the outermost
// open loop: bit k of loops tells whether the k-th outwards is a loop. Of nests
// deeper than its bits it forgets the outermost, which costs weight and nothing
// else.
type loopNest struct {
	loops uint64
	depth uint64 // set bits
}

// shift is the logarithm of what an access counts. Of more nested loops than
// maxNest the weights of scanLimit bytes might overflow.
func (n *loopNest) shift() uint32 { return 3 * uint32(min(n.depth, maxNest)) }

const maxNest = 6

// countLoops takes the nest n over the chunk at pc, in which blocks open or end,
// heads among them loops, and counts the accesses in front of the last change of
// weight. It gives the others.
func (h *hints) countLoops(n *loopNest, base unsafe.Pointer, pc int, accesses, blocks, heads marks) (rest marks) {
	if n.depth == 0 {
		blocks &^= heads&-heads - 1 // outside of loops nothing matters
	}
	for ; blocks != 0; blocks &= blocks - 1 {
		b := uint64(scanBlocks[decoder.Byte(base, pc+blocks.first())])
		open, loop, end := b&1, b>>1&1, b>>2
		depth := n.depth + loop - n.loops&end
		n.loops = (n.loops<<open | loop) >> end
		if depth != n.depth {
			before := blocks&-blocks - 1
			h.count(base, pc, accesses&before, n.shift())
			accesses &^= before
			n.depth = depth
		}
	}
	return accesses
}

// count counts the accesses in the chunk at pc as 1<<shift each. It calls nothing
// and depends on no opcode: the one branch that is mispredicted is the way out.
func (h *hints) count(base unsafe.Pointer, pc int, accesses marks, shift uint32) {
	locals := h.locals
	for ; accesses != 0; accesses &= accesses - 1 {
		i, next := localIndex(base, pc+accesses.first()+1)
		if uint(i) >= uint(len(locals)) {
			continue // invalid
		}
		l := &locals[i]
		l.last = uint32(next)
		l.weight += 1 << (shift & 31)
	}
}

// scanBlocks is what an opcode does to a loopNest: bit 0 if it opens a block,
// bit 1 if that is a loop, bit 2 if it ends one.
var scanBlocks = [256]uint8{decoder.OpBlock: 1, decoder.OpIf: 1, decoder.OpLoop: 3, decoder.OpEnd: 4}

// localIndex reads the index of a local. It calls nothing, so that a loop around
// it keeps its variables in registers.
func localIndex(p unsafe.Pointer, pc int) (i uint32, next int) {
	b := decoder.Byte(p, pc)
	i, next = uint32(b&0x7f), pc+1
	for shift := 7; b >= 0x80 && shift < 32; shift += 7 {
		b = decoder.Byte(p, next)
		i |= uint32(b&0x7f) << shift
		next++
	}
	return i, next
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
// callee-saved registers, and gives the number of heavy ones that are left.
func (c *Compiler) choosePins(pc, params int) (heavy int) {
	if len(c.locals) == 0 {
		return 0
	}
	c.scan(pc, params)
	maxGP, maxFP := len(pinGP), len(pinFP)
	if c.o.FewRegisters {
		maxGP, maxFP = 1, 1
	}
	if c.o.Reference {
		maxGP, maxFP = 0, 0
	}
	var bestGP [len(pinGP)]uint64
	var bestFP [len(pinFP)]uint64
	nGP, nFP := 0, 0
	for i := range c.hints.locals {
		w := c.hints.locals[i].weight
		if w >= heavyWeight {
			heavy++
		}
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
	return heavy - nGP - nFP
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
