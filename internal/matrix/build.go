package matrix

import (
	"fmt"
	"strconv"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
)

// variant is one generated function: an opcode with its operands in certain
// places and its result in a certain use.
type variant struct {
	export string
	name   string
	use    use
	// constant operands are in the code; the arguments at their position
	// don't matter.
	inputs [][]uint64
}

// builder makes the module of one opcode.
type builder struct {
	*helpers
	name     string
	emit     func(c *wasmtest.Code) // appends the opcode
	operands []decoder.Type
	result   decoder.Type
	uses     []use
	variants []variant
	turn     int // rotates uses, shapes and samples
}

// newBuilder starts a module for an opcode of which emit appends the code.
func newBuilder(name string, operands []decoder.Type, result decoder.Type, emit func(*wasmtest.Code)) *builder {
	return &builder{helpers: newHelpers(), name: name, emit: emit, operands: operands, result: result, uses: usesOf(result)}
}

// build makes the module of a numeric row.
func build(row *Row) *builder {
	operands, result, _ := row.Numeric()
	b := newBuilder(row.Name, operands, result, func(c *wasmtest.Code) { c.OpU(row.Op) })
	if len(b.operands) == 1 {
		b.unary()
	} else {
		b.binary()
	}
	return b
}

func (b *builder) unary() {
	all := inputs(b.operands)
	for _, p := range places {
		for u := range b.uses {
			for s := range numShapes {
				b.add([]place{p}, all[0], b.uses[u], s, all)
			}
		}
	}
	for _, in := range all {
		for u := range b.uses {
			b.add([]place{constant}, in, b.uses[u], straight, [][]uint64{in})
		}
	}
}

func (b *builder) binary() {
	all := inputs(b.operands)
	for i, p := range places {
		for j, q := range places {
			some := b.sample(all)
			if i == j && i < 3 {
				some = all
			}
			b.add([]place{p, q}, all[0], b.next(), straight, some)
			b.add([]place{p, q}, all[0], b.next(), looped+shape(b.turn%2), b.sample(all))
		}
	}
	for k, in := range all {
		b.add([]place{constant, constant}, in, b.next(), straight, [][]uint64{in})
		// Each value once as a constant on the left and on the right.
		if k%pairValues == 0 {
			row := all[k : k+pairValues]
			b.add([]place{constant, places[b.turn%len(places)]}, in, b.next(), straight, row)
			b.add([]place{constant, places[b.turn%len(places)]}, in, b.next(), shape(b.turn)%numShapes, row)
		}
		if k < pairValues {
			var column [][]uint64
			for l := k; l < len(all); l += pairValues {
				column = append(column, all[l])
			}
			b.add([]place{places[b.turn%len(places)], constant}, in, b.next(), straight, column)
			b.add([]place{places[b.turn%len(places)], constant}, in, b.next(), shape(b.turn)%numShapes, column)
		}
	}
	if b.operands[0] == b.operands[1] {
		b.same(all)
	}
}

// same adds the opcode with one value as both operands.
func (b *builder) same(all [][]uint64) {
	var diagonal [][]uint64
	for _, in := range all {
		if in[0] == in[1] {
			diagonal = append(diagonal, in)
		}
	}
	again := place{"the same again", func(_ *helpers, c *wasmtest.Code, s source) { c.Get(s.spare - 1) }}
	for _, p := range places[3:5] { // alias and tee leave the value in the first spare
		for _, u := range b.uses {
			b.add([]place{p, again}, all[0], u, straight, diagonal)
		}
	}
}

func (b *builder) next() use {
	b.turn++
	return b.uses[b.turn%len(b.uses)]
}

// sample takes some of the inputs, others each time.
func (b *builder) sample(all [][]uint64) [][]uint64 {
	const step = 23 // no divisor of the number of pairs
	var some [][]uint64
	for i := b.turn % step; i < len(all); i += step {
		some = append(some, all[i])
	}
	return some
}

// add makes one function.
func (b *builder) add(ps []place, bits []uint64, u use, s shape, in [][]uint64) {
	n := uint32(len(b.operands))
	result, counter := 2*n, 2*n+1
	locals := append(append([]decoder.Type(nil), b.operands...), b.result, decoder.I32)

	var c wasmtest.Code
	name := b.name
	if s == crowded {
		b.crowd(&c)
	}
	if s == looped {
		c.I32(2).Set(counter).Block(0x03, wasmtest.Empty)
	} else if u.before != nil {
		u.before(&c)
	}
	for i, p := range ps {
		p.emit(b.helpers, &c, source{b.operands[i], uint32(i), n + uint32(i), bits[i]})
		name += " " + p.name
		if p.name == constant.name {
			name += fmt.Sprintf(" 0x%x", bits[i])
		}
	}
	b.emit(&c)
	switch s {
	case looped:
		c.Set(result).Get(counter).I32(1).Op(0x6b).Tee(counter).OpU(0x0d, 0).End()
		if u.before != nil {
			u.before(&c)
		}
		c.Get(result)
	case crowded:
		if u.after != nil {
			u.after(&c, result)
		}
		b.uncrowd(&c)
	}
	if s != crowded && u.after != nil {
		u.after(&c, result)
	}

	results := []decoder.Type{b.result}
	if u.out != decoder.Bot {
		results[0] = u.out
	}
	if u.reread {
		for i, t := range b.operands {
			c.Get(uint32(i))
			results = append(results, t)
		}
	}
	if s == crowded {
		locals = append(locals, results[0])
	}
	export := strconv.Itoa(len(b.variants))
	b.m.Func(export, b.m.Type(b.operands, results), locals, c)
	b.variants = append(b.variants, variant{export, name + ", " + u.name + s.String(), u, in})
}

// crowdSize is how many operands lie below in a crowded function: more than
// any register set.
const crowdSize = 20

// crowd pushes values computed from the parameters.
func (b *builder) crowd(c *wasmtest.Code) {
	for i := range crowdSize {
		p := i % len(b.operands)
		computed(b.helpers, c, source{t: b.operands[p], param: uint32(p)})
	}
}

// uncrowd checks and drops them, with the result on top, which is in the
// last local meanwhile.
func (b *builder) uncrowd(c *wasmtest.Code) {
	keep := 2*uint32(len(b.operands)) + 2
	c.Set(keep)
	for i := crowdSize - 1; i >= 0; i-- {
		p := i % len(b.operands)
		bitsOf := func() {}
		ne := byte(0x47)
		switch b.operands[p] {
		case decoder.I64:
			ne = 0x52
		case decoder.F32:
			bitsOf = func() { c.Op(0xbc) }
		case decoder.F64:
			bitsOf = func() { c.Op(0xbd) }
			ne = 0x52
		}
		bitsOf()
		c.Get(uint32(p))
		bitsOf()
		c.Op(ne).Block(0x04, wasmtest.Empty).Op(0x00).End()
	}
	c.Get(keep)
}
