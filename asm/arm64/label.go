package arm64

// The fix-up code owns every reach. A conditional branch reaches 1 MiB, a test
// of a bit 32 KiB, a jump 128 MiB. To a label that is bound already the right
// form is picked at once: beyond its reach a conditional branch becomes the
// opposite one over a jump. To a label that isn't bound the short form is
// tried; if it turns out not to reach, the code is useless, TooFar says so and
// the caller emits the function again with far set, where all conditional
// branches to unbound labels take the long form. Functions of that size are so
// rare that emitting them twice costs less than veneers cost all others.

// reach is how far branches may go, in bytes: up to reach forwards, less than
// that from -reach backwards.
type reach struct{ cond, test, jump int }

var fullReach = reach{cond: 1 << 20, test: 1 << 15, jump: 1 << 27}

// SetReach shortens the reach of conditional branches, tests of bits and jumps,
// in bytes, so that tests need no code of many megabytes. It stays in force
// when the buffer is reset.
func (a *Asm) SetReach(cond, test, jump int) {
	a.reach = reach{min(cond, fullReach.cond), min(test, fullReach.test), min(jump, fullReach.jump)}
}

// TooFar reports whether a branch since the last Reset could not reach its
// label: the code must not be used.
func (a *Asm) TooFar() bool { return a.tooFar }

// Label is a position in the code of one [Asm] that may not be known yet. The
// zero value is a label without uses.
//
// Uses of an unbound label form a list through their own fields: each holds the
// distance in words back to the use before it, 0 for the first; the label has
// the position of the last.
type Label struct {
	pos   int32 // bound position + 1
	chain int32 // position of the last use + 1
}

// Bound says whether the label has its position.
func (l *Label) Bound() bool { return l.pos != 0 }

// Pos is the position of a bound label.
func (l *Label) Pos() int {
	if l.pos == 0 {
		panic(errUnbound)
	}
	return int(l.pos) - 1
}

// field describes where an instruction keeps its distance.
type place struct {
	shift, bits uint8
	reach       int  // bytes
	soft        bool // out of reach means TooFar, not a panic
	adr         bool
}

// placeOf tells what kind of branch a word is.
func (a *Asm) placeOf(w uint32) place {
	switch {
	case w&0x7c000000 == 0x14000000: // b, bl
		return place{0, 26, a.reach.jump, false, false}
	case w&0xff000010 == 0x54000000, w&0x7e000000 == 0x34000000: // b.cond, cbz
		return place{5, 19, a.reach.cond, true, false}
	case w&0x7e000000 == 0x36000000: // tbz
		return place{5, 14, a.reach.test, true, false}
	case w&0x9f000000 == 0x10000000: // adr, of whole words
		return place{5, 19, 1 << 20, false, true}
	}
	panic(errOp)
}

// mask is the field within the word.
func (p place) mask() uint32 { return (1<<p.bits - 1) << p.shift }

// PatchBranch makes the branch at a position reach another. A conditional
// branch that can't sets TooFar; all others panic.
func (a *Asm) PatchBranch(at, target int) {
	w := a.read32(at)
	p := a.placeOf(w)
	d := target - at
	if d&3 != 0 {
		panic(errImm)
	}
	if d < -p.reach || d >= p.reach {
		if !p.soft {
			panic(errReach)
		}
		a.tooFar = true
		return
	}
	a.write32(at, w&^p.mask()|uint32(d>>2)<<p.shift&p.mask())
}

// PatchHere makes the branch at a position reach the current one.
func (a *Asm) PatchHere(at int) { a.PatchBranch(at, a.pos) }

// Bind puts the label at the current position and completes its uses. A label
// can be bound once.
func (a *Asm) Bind(l *Label) {
	if l.pos != 0 {
		panic(errBound)
	}
	for at := int(l.chain) - 1; at >= 0; {
		w := a.read32(at)
		p := a.placeOf(w)
		back := int(w&p.mask()>>p.shift) * 4
		a.PatchBranch(at, a.pos)
		if back == 0 {
			break
		}
		at -= back
	}
	*l = Label{pos: int32(a.pos) + 1}
}

// use adds the branch at a position to the uses of an unbound label.
func (a *Asm) use(l *Label, at int) {
	back := 0
	if l.chain != 0 {
		back = (at + 1 - int(l.chain)) / 4
	}
	w := a.read32(at)
	p := a.placeOf(w)
	if back >= 1<<p.bits {
		// The list can't be told, but the uses before this one are so far
		// away that some short branch can't reach the label anyway, or the
		// next try has none.
		if !p.soft {
			panic(errReach)
		}
		a.tooFar = true
		back = 0
	}
	a.write32(at, w|uint32(back)<<p.shift)
	l.chain = int32(at) + 1
}

// to completes the branch just emitted at a position.
func (a *Asm) to(l *Label, at int) {
	if l.pos != 0 {
		a.PatchBranch(at, int(l.pos)-1)
		return
	}
	a.use(l, at)
}

// JumpL jumps to a label.
func (a *Asm) JumpL(l *Label) { a.to(l, a.B()) }

// AdrL is d = the address of a label within 1 MiB.
func (a *Asm) AdrL(d Reg, l *Label) { a.to(l, a.Adr(d)) }

// condL emits a conditional branch to a label, or its opposite over a jump.
func (a *Asm) condL(w, opposite uint32, reach int, l *Label) {
	if l.pos != 0 {
		if d := int(l.pos) - 1 - a.pos; d >= -reach {
			a.PatchBranch(a.branch(w), int(l.pos)-1)
			return
		}
	} else if !a.far {
		a.use(l, a.branch(w))
		return
	}
	over := a.branch(opposite)
	a.JumpL(l)
	a.PatchHere(over)
}

// BCondL jumps to a label if c holds.
func (a *Asm) BCondL(c Cond, l *Label) {
	if c == AL {
		panic(errOp)
	}
	a.condL(0x54000000|uint32(c), 0x54000000|uint32(c.Not()), a.reach.cond, l)
}

// CbzL jumps to a label if r is zero, or if it isn't with nonzero.
func (a *Asm) CbzL(nonzero bool, s Size, r Reg, l *Label) {
	w := cbz(nonzero, s) | rd[r]
	a.condL(w, w^inverted, a.reach.cond, l)
}

// TbzL jumps to a label if a bit of r is zero, or if it isn't with nonzero.
func (a *Asm) TbzL(nonzero bool, r Reg, bit uint8, l *Label) {
	w := tbz(nonzero, bit) | rd[r]
	a.condL(w, w^inverted, a.reach.test, l)
}

// BCondFar is a conditional jump that [Asm.PatchBranch] completes later, if far
// is set with any distance: it gives the position of the branch to patch.
func (a *Asm) BCondFar(c Cond) int {
	if !a.far {
		return a.BCond(c)
	}
	return a.longForm(a.BCond(c.Not()))
}

// CbzFar is the same for a comparison with zero.
func (a *Asm) CbzFar(nonzero bool, s Size, r Reg) int {
	if !a.far {
		return a.Cbz(nonzero, s, r)
	}
	return a.longForm(a.Cbz(!nonzero, s, r))
}

func (a *Asm) longForm(over int) int {
	at := a.B()
	a.PatchHere(over)
	return at
}
