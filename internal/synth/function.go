package synth

import (
	"bytes"

	"github.com/tetratelabs/wabin/wasm"
)

// function writes the defined function self with a body of about size bytes.
func (g *gen) function(self uint32, size int) *wasm.Code {
	g.self, g.sig = self, signatures[g.b.sigs[self]].signature
	g.buf, g.labels = g.buf[:0], append(g.labels[:0], false)
	g.limit = size - 2 // locals and end
	if size < 48 {
		g.declare(0, false)
		g.calls = false
		g.small(size)
	} else {
		floats := g.r.chance(42)
		g.declare(size, floats)
		g.calls = g.r.chance(96)
		g.prologue(floats)
		g.statements(g.limit - 4)
		g.result(1)
	}
	g.op(opEnd)
	return &wasm.Code{
		LocalTypes: localTypes(g.locals[len(g.sig.params):]),
		Body:       bytes.Clone(g.buf),
	}
}

func localTypes(kinds []kind) []wasm.ValueType {
	t := make([]wasm.ValueType, len(kinds))
	for i, k := range kinds {
		t[i] = valueType(k)
	}
	return t
}

// declare chooses the locals of a body of the given size.
func (g *gen) declare(size int, floats bool) {
	for k := range g.byKind {
		g.byKind[k] = g.byKind[k][:0]
	}
	g.locals, g.loops, g.busy = g.locals[:0], g.loops[:0], g.busy[:0]
	for _, p := range g.sig.params {
		g.declareLocal(p)
	}
	if size == 0 {
		return
	}
	// 4 locals on average, 60 in the largest percent.
	n := min(800, (size+g.r.below(100))/90)
	for i := range n {
		k := []kind{kindInt, kindPtr, kindI64}[g.r.pick([]int{60, 32, 3})]
		if floats && i%3 == 2 {
			k = []kind{kindF32, kindF64}[g.r.pick([]int{90, 10})]
		}
		g.declareLocal(k)
	}
	if floats {
		g.declareLocal(kindFPtr)
		if g.r.chance(15) {
			g.declareLocal(kindDPtr)
		}
	}
	if size > 110 && g.r.chance(75) {
		g.declareLocal(kindLoop)
		g.declareLocal(kindLoop)
	}
}

func (g *gen) declareLocal(k kind) {
	i := uint32(len(g.locals))
	g.locals = append(g.locals, k)
	if k == kindLoop {
		g.loops = append(g.loops, i)
		return
	}
	g.byKind[k] = append(g.byKind[k], i)
}

// prologue takes a unit of fuel, where real code moves its stack pointer, and
// points the float pointers into their part of the memory.
func (g *gen) prologue(floats bool) {
	if g.calls {
		g.op(opGlobalGet, fuelGlobal, opI32Eqz)
		g.open(opIf, blockEmpty, true)
		g.zero(g.sig.result)
		g.op(opReturn)
		g.close()
		g.op(opGlobalGet, fuelGlobal)
		g.i32(1)
		g.op(opI32Sub, opGlobalSet, fuelGlobal)
	}
	if !floats {
		return
	}
	for _, k := range []kind{kindFPtr, kindDPtr} {
		for _, l := range g.byKind[k] {
			g.expr(k, 0)
			g.opU32(opLocalSet, l)
		}
	}
}

// zero writes a constant of kind k.
func (g *gen) zero(k kind) {
	switch k {
	case kindVoid:
	case kindF32:
		g.buf = f32Ops.appendConst(g.buf, 0)
	case kindF64:
		g.buf = f64Ops.appendConst(g.buf, 0)
	case kindI64:
		g.op(opI64Const, 0)
	default:
		g.i32(0)
	}
}

// small writes one of the many accessors and forwarders of object-oriented
// code. A forwarder calls a function of a higher index only: without fuel of
// its own it must not close a cycle of forwarders.
func (g *gen) small(size int) {
	if size >= 10 && g.r.chance(75) && g.forward() {
		return
	}
	for g.room() >= 14 {
		g.store(0)
	}
	if g.sig.result == kindVoid {
		return
	}
	if g.sig.result == kindInt && size >= 7 && g.local(kindPtr) {
		g.mem(opI32Load, 2)
		return
	}
	g.zero(g.sig.result)
}

// forward calls a later function with the same result.
func (g *gen) forward() bool {
	var sigs []uint8
	if sigs = g.b.byResult[g.sig.result]; len(sigs) == 0 {
		return false
	}
	sig := sigs[g.r.below(len(sigs))]
	fns := g.b.bySig[sig]
	to := fns[g.r.below(len(fns))]
	if to <= g.self {
		to = fns[len(fns)-1]
	}
	if to <= g.self {
		return false
	}
	for _, p := range signatures[sig].params {
		g.expr(p, 0)
	}
	g.opU32(opCall, g.b.imports+to)
	return true
}

// runRounds and runFuel bound what run does.
const (
	runRounds = 64
	runFuel   = 300
)

// runBody is the exported function run: it calls functions spread over the
// whole module, by way of the table, with fuel for a few hundred calls each,
// and folds their results and then the memory into a checksum.
func (b *builder) runBody() *wasm.Code {
	g := gen{b: b, r: &b.r}
	const sum, p = 0, 1
	sig := uint8(0)
	for s, fns := range b.bySig {
		if signatures[s].result == kindInt && len(fns) > 0 && len(fns) > len(b.bySig[sig]) {
			sig = uint8(s)
		}
	}
	if fns := b.bySig[sig]; len(fns) > 0 && signatures[sig].result == kindInt {
		for i := range runRounds {
			g.i32(runFuel)
			g.op(opGlobalSet, fuelGlobal)
			g.opU32(opLocalGet, sum)
			g.i32(5)
			g.op(opI32Rotl)
			for _, k := range signatures[sig].params {
				v := int32(i*64 + 1024)
				if k == kindInt {
					v = int32(i)
				}
				g.i32(v)
			}
			g.i32(int32(b.slots[sig].base) + int32(i*len(fns)/runRounds))
			g.opU32(opCallIndirect, uint32(sig))
			g.op(0, opI32Xor)
			g.opU32(opLocalSet, sum)
		}
	}
	// for p = 64 KiB; p != 0; p -= 4 { sum = rotl(sum, 1) ^ load(p-4) }
	g.i32(1 << 16)
	g.opU32(opLocalSet, p)
	g.op(opLoop, blockEmpty)
	g.opU32(opLocalGet, sum)
	g.i32(1)
	g.op(opI32Rotl)
	g.opU32(opLocalGet, p)
	g.i32(4)
	g.op(opI32Sub)
	g.opU32(opLocalTee, p)
	g.op(opI32Load, 2, 0, opI32Xor)
	g.opU32(opLocalSet, sum)
	g.opU32(opLocalGet, p)
	g.op(opBrIf, 0, opEnd)
	g.opU32(opLocalGet, sum)
	g.op(opEnd)
	return &wasm.Code{LocalTypes: []wasm.ValueType{wasm.ValueTypeI32, wasm.ValueTypeI32}, Body: g.buf}
}

// startBody is _start: run without its result.
func (b *builder) startBody() *wasm.Code {
	g := gen{b: b, r: &b.r}
	g.opU32(opCall, b.imports+uint32(b.o.Functions))
	g.op(opDrop, opEnd)
	return &wasm.Code{Body: g.buf}
}
