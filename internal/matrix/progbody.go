package matrix

import (
	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
)

// target is a label that a branch may go to.
type target struct {
	types   []decoder.Type
	loop    bool
	counter uint32 // of a loop: the local that ends it
}

// body generates one function.
type body struct {
	*program
	c       wasmtest.Code
	locals  []decoder.Type
	params  int
	visible int // locals that statements may set; counters lie behind
	scratch map[decoder.Type]uint32
	results []decoder.Type
	labels  []target // the last is the innermost
	depth   int      // of expressions and statements
	budget  int      // statements left
}

func (f *body) newLocal(t decoder.Type) uint32 {
	f.locals = append(f.locals, t)
	return uint32(len(f.locals) - 1)
}

// local chooses a local of type t; ok is false if there is none.
func (f *body) local(t decoder.Type) (uint32, bool) {
	start := f.n(f.visible)
	for k := range f.visible {
		if i := (start + k) % f.visible; f.locals[i] == t && !f.isScratch(i) {
			return uint32(i), true
		}
	}
	return 0, false
}

func (f *body) isScratch(i int) bool {
	s, ok := f.scratch[f.locals[i]]
	return ok && s == uint32(i)
}

// setOrDrop takes the top operand, of type t, off the stack.
func (f *body) setOrDrop(t decoder.Type) {
	if l, ok := f.local(t); ok && !f.oneOf(3) {
		f.c.Set(l)
	} else {
		f.c.Op(0x1a)
	}
}

// clean pushes a value whose bits the specification determines: a float NaN
// of any kind becomes one certain NaN.
func (f *body) clean(t decoder.Type) {
	f.expr(t)
	s, isFloat := f.scratch[t]
	if !isFloat {
		return
	}
	eq, nan := byte(0x5b), uint64(0x7fc00000)
	if t == decoder.F64 {
		eq, nan = 0x61, 0x7ff8000000000000
	}
	f.c.Tee(s).Const(t, nan).Get(s).Get(s).Op(eq, 0x1b)
}

// cleanAll pushes values of several types.
func (f *body) cleanAll(ts []decoder.Type) {
	for _, t := range ts {
		f.clean(t)
	}
}

// statement generates code that leaves the operands as they are.
func (f *body) statement() {
	if f.budget--; f.budget < 0 || f.depth > 6 {
		return
	}
	f.depth++
	defer func() { f.depth-- }()
	switch f.n(18) {
	case 0, 1, 2, 3:
		t := pick(&f.choices, numTypes)
		if l, ok := f.local(t); ok {
			f.clean(t)
			f.c.Set(l)
		}
	case 4:
		t := pick(&f.choices, numTypes)
		f.clean(t)
		f.c.OpU(0x24, pick(&f.choices, f.globals[t]))
	case 5, 6:
		f.store()
	case 7, 8:
		f.block(0x02, f.types(4), f.types(4))
	case 9, 10:
		f.expr(decoder.I32)
		f.ifElse(f.types(2), f.types(3))
	case 11:
		f.loop(f.types(3), f.types(3))
	case 12:
		f.branchIf()
	case 13:
		f.branchTable()
	case 14:
		f.callStatement()
	case 15:
		f.jump()
	case 16:
		f.bulk()
	case 17:
		f.reference()
	}
}

// blockType makes the block type of a signature, in its short form if it has
// one.
func (f *body) blockType(params, results []decoder.Type) int64 {
	switch {
	case len(params) == 0 && len(results) == 0:
		return wasmtest.Empty
	case len(params) == 0 && len(results) == 1 && !f.oneOf(3):
		return wasmtest.Result(results[0])
	}
	return int64(f.m.Type(params, results))
}

// inside generates the inside of a block: the parameters are on the stack,
// the results must come out.
func (f *body) inside(params, results []decoder.Type) {
	for i := len(params) - 1; i >= 0; i-- {
		f.setOrDrop(params[i])
	}
	for range f.n(4) {
		f.statement()
	}
	f.cleanAll(results)
}

// take removes results from the stack.
func (f *body) take(results []decoder.Type) {
	for i := len(results) - 1; i >= 0; i-- {
		f.setOrDrop(results[i])
	}
}

func (f *body) block(op byte, params, results []decoder.Type) {
	f.cleanAll(params)
	f.c.Block(op, f.blockType(params, results))
	f.labels = append(f.labels, target{types: results})
	f.inside(params, results)
	f.labels = f.labels[:len(f.labels)-1]
	f.c.End()
	f.take(results)
}

// ifElse expects the condition on the stack and the parameters below it:
// with parameters it is moved there by way of a local.
func (f *body) ifElse(params, results []decoder.Type) {
	if len(params) > 0 {
		cond := f.newLocal(decoder.I32)
		f.c.Set(cond)
		f.cleanAll(params)
		f.c.Get(cond)
	}
	f.c.Block(0x04, f.blockType(params, results))
	f.labels = append(f.labels, target{types: results})
	f.inside(params, results)
	same := signature(params) == signature(results)
	if !same || f.oneOf(2) {
		f.c.Op(0x05)
		f.inside(params, results)
	}
	f.labels = f.labels[:len(f.labels)-1]
	f.c.End()
	f.take(results)
}

// loop generates a loop that runs a few times.
func (f *body) loop(params, results []decoder.Type) {
	counter := f.newLocal(decoder.I32)
	f.c.I32(int32(1 + f.n(4))).Set(counter)
	f.cleanAll(params)
	f.c.Block(0x03, f.blockType(params, results))
	f.labels = append(f.labels, target{types: params, loop: true, counter: counter})
	for i := len(params) - 1; i >= 0; i-- {
		f.setOrDrop(params[i])
	}
	for range f.n(4) {
		f.statement()
	}
	f.again(0)
	f.cleanAll(results)
	f.labels = f.labels[:len(f.labels)-1]
	f.c.End()
	f.take(results)
}

// again goes back to the loop of label l while its counter lasts.
func (f *body) again(l uint32) {
	t := f.labels[len(f.labels)-1-int(l)]
	f.cleanAll(t.types)
	f.c.Get(t.counter).I32(1).Op(0x6b).Tee(t.counter).I32(0).Op(0x4a).OpU(0x0d, l)
	f.take(t.types)
}

// forward chooses a label that is no loop's.
func (f *body) forward() uint32 {
	start := f.n(len(f.labels))
	for k := range f.labels {
		l := (start + k) % len(f.labels)
		if !f.labels[len(f.labels)-1-l].loop {
			return uint32(l)
		}
	}
	return uint32(len(f.labels) - 1) // the function's
}

func (f *body) typesOf(l uint32) []decoder.Type { return f.labels[len(f.labels)-1-int(l)].types }

func (f *body) branchIf() {
	l := uint32(f.n(len(f.labels)))
	if f.labels[len(f.labels)-1-int(l)].loop {
		f.again(l)
		return
	}
	f.cleanAll(f.typesOf(l))
	f.expr(decoder.I32)
	f.c.OpU(0x0d, l)
	f.take(f.typesOf(l))
}

// branchTable branches to labels of equal types, from inside a block, so that
// what follows is reached from elsewhere.
func (f *body) branchTable() {
	l := f.forward()
	ts := f.typesOf(l)
	labels := []uint32{l + 1}
	for i := range f.labels {
		if t := f.labels[len(f.labels)-1-i]; !t.loop && signature(t.types) == signature(ts) {
			labels = append(labels, uint32(i)+1)
		}
	}
	if len(ts) == 0 {
		labels = append(labels, 0, 0)
	}
	f.c.Block(0x02, wasmtest.Empty)
	f.labels = append(f.labels, target{})
	if f.oneOf(2) {
		f.expr(decoder.I32)
		f.c.OpU(0x0d, 0)
	}
	f.cleanAll(ts)
	f.expr(decoder.I32)
	if f.oneOf(2) {
		f.c.I32(int32(len(labels))).Op(0x70)
	}
	var list []uint32
	for range 1 + f.n(6) {
		list = append(list, pick(&f.choices, labels))
	}
	f.c.BrTable(list...)
	f.dead()
	f.labels = f.labels[:len(f.labels)-1]
	f.c.End()
}

// jump leaves by br, return or unreachable under a condition, or at once.
func (f *body) jump() {
	conditional := !f.oneOf(8)
	if conditional {
		f.expr(decoder.I32)
		f.c.Block(0x04, wasmtest.Empty)
		f.labels = append(f.labels, target{})
	}
	switch f.n(12) {
	case 0, 1:
		f.cleanAll(f.results)
		f.c.Op(0x0f)
	case 2:
		f.c.Op(0x00)
	default:
		l := f.forward()
		f.cleanAll(f.typesOf(l))
		f.c.OpU(0x0c, l)
	}
	f.dead()
	if conditional {
		f.labels = f.labels[:len(f.labels)-1]
		f.c.End()
	}
}

// dead generates code that is never reached, with pops from the polymorphic
// stack.
func (f *body) dead() {
	switch f.n(5) {
	case 0:
		f.statement()
	case 1:
		f.c.Op(0x6a, 0x1a) // i32.add, drop
	case 2:
		f.c.Op(0x1b, 0x1a) // select, drop
	case 3:
		f.c.Block(0x02, wasmtest.Result(decoder.F64)).Op(0x00).End().Op(0x1a)
	}
}
