package matrix

import (
	"fmt"
	"math/rand/v2"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
)

// choices decide what a generated program looks like: bytes of a fuzzer as
// long as they last, then a seeded generator.
type choices struct {
	data []byte
	rng  *rand.Rand
}

// n chooses a number below k.
func (c *choices) n(k int) int {
	if len(c.data) == 0 {
		return c.rng.IntN(k)
	}
	b := c.data[0]
	c.data = c.data[1:]
	return int(b) % k
}

// one chooses yes in one of k cases.
func (c *choices) oneOf(k int) bool { return c.n(k) == 0 }

// pick chooses an element.
func pick[T any](c *choices, list []T) T { return list[c.n(len(list))] }

// operation is a numeric opcode as the generator uses it.
type operation struct {
	op       uint32
	operands []decoder.Type
	traps    bool
}

// operations groups the numeric opcodes by result type.
func operations(rows []Row) map[decoder.Type][]operation {
	list := map[decoder.Type][]operation{}
	for i := range rows {
		r := &rows[i]
		if operands, result, ok := r.Numeric(); ok {
			traps := r.Class == "divrem" || r.Class == "trunc"
			list[result] = append(list[result], operation{r.Op, operands, traps})
		}
	}
	return list
}

// signatureOf is what the generator knows of a function.
type signatureOf struct {
	index uint32
	ft    decoder.FuncType
}

// program generates one module. Its functions call only earlier ones, and
// its loops count down, so that all ends, if not soon.
type program struct {
	choices
	*helpers
	ops     map[decoder.Type][]operation
	funcs   []signatureOf // those that may be called directly
	leaves  []signatureOf // those in the table
	exports []variant
	globals map[decoder.Type][]uint32
	table   uint32
	segment uint32
}

// tableSize is the size of the program's table; entries may be null.
const tableSize = 8

// numLeaves is how many functions are in it.
const numLeaves = 3

// newProgram generates a module of n functions.
func newProgram(data []byte, seed uint64, n int, ops map[decoder.Type][]operation) *program {
	p := &program{
		choices: choices{data, rand.New(rand.NewPCG(seed, 2))}, helpers: newHelpersWith(nil, 3), ops: ops,
		globals: map[decoder.Type][]uint32{},
	}
	p.m.Export("memory", decoder.ExternMemory, 0)
	p.m.Data(0, pattern(4096))
	p.segment = p.m.PassiveData(pattern(100))
	p.table = p.m.Table(decoder.FuncRef, tableSize, 2*tableSize)
	for _, t := range numTypes {
		for i := range 2 {
			g := p.m.Global(t, edges[t][p.n(len(edges[t]))])
			p.globals[t] = append(p.globals[t], g)
			p.m.Export(fmt.Sprintf("%s.%d", t, i), decoder.ExternGlobal, g)
		}
		p.funcs = append(p.funcs, signatureOf{p.host[t], decoder.FuncType{Params: wasmtest.Types(t), Results: wasmtest.Types(t)}})
	}
	// The functions in the table call none through it, or they could call
	// themselves. They are few and short, since loops may call them.
	var leaves []signatureOf
	for i := range n {
		s := signatureOf{ft: decoder.FuncType{Params: p.types(5), Results: p.types(3)}}
		if i < numLeaves {
			s.ft.Params = p.types(2)
		}
		p.function(&s, i)
		if i < numLeaves {
			leaves = append(leaves, s)
			p.m.Elem(p.table, uint32(2*i), s.index)
		}
		if i == numLeaves-1 {
			p.leaves = leaves
		}
	}
	return p
}

// types chooses at most max numeric types.
func (p *program) types(max int) []decoder.Type {
	ts := make([]decoder.Type, p.n(max+1))
	for i := range ts {
		ts[i] = pick(&p.choices, numTypes)
	}
	return ts
}

// function generates function i and the arguments to call it with.
func (p *program) function(s *signatureOf, i int) {
	f := &body{program: p, params: len(s.ft.Params), results: s.ft.Results}
	f.locals = append(f.locals, s.ft.Params...)
	for range p.n(12) {
		f.locals = append(f.locals, pick(&p.choices, append(numTypes, decoder.FuncRef)))
	}
	f.scratch = map[decoder.Type]uint32{}
	for _, t := range []decoder.Type{decoder.F32, decoder.F64} {
		f.scratch[t] = f.newLocal(t)
	}
	f.visible = len(f.locals)
	f.budget = 25
	if i < numLeaves {
		f.budget = 6
	}
	f.labels = []target{{types: s.ft.Results}}
	for range 1 + p.n(6) {
		f.statement()
	}
	for _, t := range s.ft.Results {
		f.clean(t)
	}
	name := fmt.Sprintf("f%d", i)
	s.index = p.m.Func(name, p.m.FuncType(s.ft), f.locals[f.params:], f.c)
	p.funcs = append(p.funcs, *s)

	v := variant{export: name, name: name}
	for range 4 {
		var args []uint64
		for _, t := range s.ft.Params {
			args = append(args, pick(&p.choices, edges[t]))
		}
		v.inputs = append(v.inputs, args)
	}
	p.exports = append(p.exports, v)
}
