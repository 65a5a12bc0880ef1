package arm64

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// picker chooses the operands of a test case. As a deck it deals every value
// of every choice before it repeats one, in an order that is random but the
// same in each run; otherwise it draws independently.
type picker struct {
	rng   *rand.Rand
	decks map[[2]int][]int // by position of the choice in its row, and values
	dealt map[[2]int]int
	pos   int
}

func newPicker(name string, deck bool) *picker {
	h := fnv.New64a()
	h.Write([]byte(name))
	p := &picker{rng: rand.New(rand.NewPCG(h.Sum64(), 1))}
	if deck {
		p.decks = map[[2]int][]int{}
		p.dealt = map[[2]int]int{}
	}
	return p
}

// row starts a new test case.
func (p *picker) row() { p.pos = 0 }

// pick chooses a number below n.
func (p *picker) pick(n int) int {
	if p.decks == nil {
		return p.rng.IntN(n)
	}
	k := [2]int{p.pos, n}
	p.pos++
	if len(p.decks[k]) == 0 {
		p.decks[k] = p.rng.Perm(n)
	}
	v := p.decks[k][0]
	p.decks[k] = p.decks[k][1:]
	p.dealt[k]++
	return v
}

// unseen lists the choices of which some value was never dealt.
func (p *picker) unseen() (list []string) {
	for k, n := range p.dealt {
		if n < k[1] {
			list = append(list, fmt.Sprintf("choice %d: %d of %d values", k[0], n, k[1]))
		}
	}
	return list
}

// reg is a register but number 31, which forms name by its meaning.
func (p *picker) reg() Reg     { return Reg(p.pick(31)) }
func (p *picker) reg31() Reg   { return Reg(p.pick(32)) }
func (p *picker) vreg() VReg   { return VReg(p.pick(32)) }
func (p *picker) size() Size   { return Size(p.pick(2)) }
func (p *picker) bool() bool   { return p.pick(2) == 1 }
func (p *picker) double() bool { return p.pick(2) == 1 }
func (p *picker) cond() Cond   { return Cond(p.pick(14)) }

// oneOf chooses a value of a list.
func oneOf[T any](p *picker, list []T) T { return list[p.pick(len(list))] }

// amount is a shift below the width.
func (p *picker) amount(s Size) uint8 {
	return oneOf(p, []uint8{0, 1, 2, 7, 15, 16, 30, 31, 32, 33, 62, 63}) & (s.bits() - 1)
}

// logical is an immediate of logical operations.
func (p *picker) logical(s Size) uint64 {
	size := 2 << p.pick(5+int(s))
	ones, rot := 1+p.pick(64)%(size-1), p.pick(64)%size
	run := uint64(1)<<ones - 1
	elem := run>>rot | run<<(size-rot)
	if size < 64 {
		elem &= 1<<size - 1
	}
	v := uint64(0)
	for at := 0; at < 64; at += size {
		v |= elem << at
	}
	if s == S32 {
		v = uint64(uint32(v))
	}
	return v
}

// Names in the syntax of GNU as.

func gn(s Size, r Reg) string {
	prefix := "w"
	if s == S64 {
		prefix = "x"
	}
	if r == ZR {
		return prefix + "zr"
	}
	return fmt.Sprintf("%s%d", prefix, r)
}

// sn is gn where number 31 is the stack pointer.
func sn(s Size, r Reg) string {
	switch {
	case r != SP:
		return gn(s, r)
	case s == S64:
		return "sp"
	}
	return "wsp"
}

func xn(r Reg) string { return gn(S64, r) }
func bn(r Reg) string { return sn(S64, r) }

func vn(double bool, r VReg) string {
	if double {
		return fmt.Sprintf("d%d", r)
	}
	return fmt.Sprintf("s%d", r)
}

var condNames = [...]string{"eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le"}
