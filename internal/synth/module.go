package synth

import (
	"fmt"

	"github.com/tetratelabs/wabin/binary"
	"github.com/tetratelabs/wabin/leb128"
	"github.com/tetratelabs/wabin/wasm"
)

// Module builds a module. It exports the memory, run (which returns an i32
// checksum) and _start (which calls run), both without parameters.
func Module(o Options) []byte {
	o.Functions = max(1, o.Functions)
	b := &builder{o: o, r: rng(o.Seed)}
	if o.Import {
		b.imports = 1
	}
	b.chooseSignatures()
	b.fillTable()
	m := b.skeleton()
	g := gen{b: b, r: &b.r}
	for i, size := range o.bodySizes(&b.r) {
		m.CodeSection = append(m.CodeSection, g.function(uint32(i), size))
	}
	m.CodeSection = append(m.CodeSection, b.runBody(), b.startBody())
	m.DataSection = []*wasm.DataSegment{{OffsetExpression: constI32(1024), Init: b.data()}}
	return binary.EncodeModule(m)
}

// builder holds what all bodies of a module need to know.
type builder struct {
	o       Options
	r       rng
	imports uint32
	sigs    []uint8 // per defined function, an index of signatures
	// bySig lists the defined functions of each signature.
	bySig [][]uint32
	// byResult lists the signatures that occur, per kind of result; the
	// weights in proportion to their functions come from repeating them.
	byResult map[kind][]uint8
	table    []*wasm.Index
	// slots is where the entries of a signature stand in the table, with a
	// count that is a power of two.
	slots []struct{ base, mask uint32 }
}

// fuelGlobal is the only global: calls that run may still make.
const fuelGlobal = 0

func (b *builder) chooseSignatures() {
	weights := make([]int, len(signatures))
	for i, s := range signatures {
		weights[i] = s.weight
	}
	b.sigs = make([]uint8, b.o.Functions)
	b.bySig = make([][]uint32, len(signatures))
	b.byResult = map[kind][]uint8{}
	for i := range b.sigs {
		s := b.r.pick(weights)
		b.sigs[i] = uint8(s)
		b.bySig[s] = append(b.bySig[s], uint32(i))
	}
	for i, s := range signatures {
		if len(b.bySig[i]) > 0 {
			for range s.weight {
				b.byResult[s.result] = append(b.byResult[s.result], uint8(i))
			}
		}
	}
}

// fillTable gives each signature a power of two of table entries, so that a
// masked index always finds a function of the right type, as in asm.js.
func (b *builder) fillTable() {
	b.slots = make([]struct{ base, mask uint32 }, len(signatures))
	for s, fns := range b.bySig {
		if len(fns) == 0 {
			continue
		}
		n := uint32(1)
		for int(n) < len(fns) {
			n *= 2
		}
		b.slots[s].base, b.slots[s].mask = uint32(len(b.table)), n-1
		for i := range n {
			f := b.imports + fns[int(i)%len(fns)]
			b.table = append(b.table, &f)
		}
	}
}

// skeleton is the module without code and data.
func (b *builder) skeleton() *wasm.Module {
	tableSize := uint32(len(b.table))
	run := b.imports + uint32(b.o.Functions)
	m := &wasm.Module{
		TableSection:  []*wasm.Table{{Min: tableSize, Max: &tableSize, Type: wasm.RefTypeFuncref}},
		MemorySection: &wasm.Memory{Min: memoryPages, Max: memoryPages, IsMaxEncoded: true},
		GlobalSection: []*wasm.Global{{
			Type: &wasm.GlobalType{ValType: wasm.ValueTypeI32, Mutable: true}, Init: constI32(0)}},
		ExportSection: []*wasm.Export{
			{Type: wasm.ExternTypeMemory, Name: "memory", Index: 0},
			{Type: wasm.ExternTypeFunc, Name: "run", Index: run},
			{Type: wasm.ExternTypeFunc, Name: "_start", Index: run + 1},
		},
		ElementSection: []*wasm.ElementSegment{{
			OffsetExpr: constI32(0), Init: b.table, Type: wasm.RefTypeFuncref, Mode: wasm.ElementModeActive}},
	}
	for _, s := range signatures {
		t := &wasm.FunctionType{}
		for _, p := range s.params {
			t.Params = append(t.Params, valueType(p))
		}
		if s.result != kindVoid {
			t.Results = []wasm.ValueType{valueType(s.result)}
		}
		m.TypeSection = append(m.TypeSection, t)
	}
	if b.o.Import {
		m.ImportSection = []*wasm.Import{{Type: wasm.ExternTypeFunc,
			Module: "wasi_snapshot_preview1", Name: "sched_yield", DescFunc: sigInt}}
	}
	for _, s := range b.sigs {
		m.FunctionSection = append(m.FunctionSection, uint32(s))
	}
	m.FunctionSection = append(m.FunctionSection, sigInt, sigVoid)
	if b.o.Names {
		names := &wasm.NameSection{ModuleName: "synthetic"}
		for i := range b.o.Functions {
			names.FunctionNames = append(names.FunctionNames,
				&wasm.NameAssoc{Index: b.imports + uint32(i), Name: fmt.Sprintf("Scene%d::Update%d", i/50, i)})
		}
		names.FunctionNames = append(names.FunctionNames,
			&wasm.NameAssoc{Index: run, Name: "run"}, &wasm.NameAssoc{Index: run + 1, Name: "_start"})
		m.NameSection = names
	}
	return m
}

// The signatures of run and _start are the last two of the list.
var (
	sigVoid = uint32(len(signatures) - 2)
	sigInt  = uint32(len(signatures) - 1)
)

// data is the contents of the data segment, in Unity's proportion to the code.
func (b *builder) data() []byte {
	d := make([]byte, min(36*b.o.Functions, ptrMask))
	for i := range d {
		// Half of a real data section is zero.
		if v := b.r.next(); v&1 == 0 {
			d[i] = byte(v >> 8)
		}
	}
	return d
}

func valueType(k kind) wasm.ValueType {
	switch k {
	case kindF32:
		return wasm.ValueTypeF32
	case kindF64:
		return wasm.ValueTypeF64
	case kindI64:
		return wasm.ValueTypeI64
	}
	return wasm.ValueTypeI32
}

func constI32(v int32) *wasm.ConstantExpression {
	return &wasm.ConstantExpression{Opcode: wasm.OpcodeI32Const, Data: leb128.EncodeInt32(v)}
}
