package amd64

// Label is a position in the code of one [Asm] that may not be known yet. The
// zero value is a label without uses.
//
// Uses of an unbound label form a list through their own rel32 fields: each
// field holds the position of the one before it, the label that of the last.
// No field is at position 0, so 0 ends the list.
type Label struct {
	pos   int32 // bound position + 1
	chain int32 // position of the last use's rel32 field
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

// Bind puts the label at the current position and completes its uses. A label
// can be bound once.
func (a *Asm) Bind(l *Label) {
	if l.pos != 0 {
		panic(errBound)
	}
	for at := int(l.chain); at != 0; {
		next := int(a.read32(at))
		a.PatchRel32(at, a.pos)
		at = next
	}
	*l = Label{pos: int32(a.pos) + 1}
}

// JmpL jumps to a label, in two bytes if it is bound and near enough.
func (a *Asm) JmpL(l *Label) {
	if l.pos != 0 {
		a.JmpBack(int(l.pos) - 1)
		return
	}
	a.put(0xe9|l.next()<<8, 5)
	l.chain = int32(a.pos - 4)
}

// JccL jumps to a label if c holds, in two bytes if it is bound and near
// enough.
func (a *Asm) JccL(c Cond, l *Label) {
	if l.pos != 0 {
		a.JccBack(c, int(l.pos)-1)
		return
	}
	a.put(0x800f|uint64(c)<<8|l.next()<<16, 6)
	l.chain = int32(a.pos - 4)
}

// LeaL computes the address of a label.
func (a *Asm) LeaL(dst Reg, l *Label) {
	at := a.LeaRIP(dst)
	if l.pos != 0 {
		a.PatchRel32(at, int(l.pos)-1)
		return
	}
	a.write32(at, uint32(l.chain))
	l.chain = int32(at)
}

// next is the rel32 field of a new use of an unbound label.
func (l *Label) next() uint64 { return uint64(uint32(l.chain)) }
