package asmtest

import (
	"fmt"
	"hash/fnv"
	"math/rand/v2"
)

// Picker chooses the operands of a test case. As a deck it deals every value
// of every choice before it repeats one, in an order that is random but the
// same in each run; otherwise it draws independently.
type Picker struct {
	rng   *rand.Rand
	decks map[choice][]int
	dealt map[choice]int
	pos   int
}

// choice is a choice by its position in the row, and its number of values.
type choice struct{ pos, values int }

// NewPicker gives a picker whose order depends on name alone.
func NewPicker(name string, deck bool) *Picker {
	h := fnv.New64a()
	h.Write([]byte(name))
	p := &Picker{rng: rand.New(rand.NewPCG(h.Sum64(), 1))}
	if deck {
		p.decks = map[choice][]int{}
		p.dealt = map[choice]int{}
	}
	return p
}

// Row starts a new test case.
func (p *Picker) Row() { p.pos = 0 }

// Deck reports whether values are dealt, and so should be few.
func (p *Picker) Deck() bool { return p.decks != nil }

// Pick chooses a number below n.
func (p *Picker) Pick(n int) int {
	if p.decks == nil {
		return p.rng.IntN(n)
	}
	k := choice{p.pos, n}
	p.pos++
	if len(p.decks[k]) == 0 {
		p.decks[k] = p.rng.Perm(n)
	}
	v := p.decks[k][0]
	p.decks[k] = p.decks[k][1:]
	p.dealt[k]++
	return v
}

// Uint32 chooses among all numbers of 32 bits.
func (p *Picker) Uint32() uint32 { return p.rng.Uint32() }

// Unseen lists the choices of which some value was never dealt.
func (p *Picker) Unseen() (list []string) {
	for k, n := range p.dealt {
		if n < k.values {
			list = append(list, fmt.Sprintf("choice %d: %d of %d values", k.pos, n, k.values))
		}
	}
	return list
}
