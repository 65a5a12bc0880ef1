package refinterp

import (
	"github.com/wasmjit/wasmjit/decoder"
)

const pageSize = 65536

// maxPages keeps the interpreter's memories small; growing may fail for any
// reason (spec 4.4.7, memory.grow).
const maxPages = 2048

// function is a function of an instance or one written in Go.
type function struct {
	ft    *decoder.FuncType
	inst  *instance
	code  *code
	index uint32
	host  func(stack []uint64) error
	ref   uint64 // its reference: position in Store.refs
}

type table struct {
	tt    decoder.TableType
	elems []uint64
}

type memory struct {
	mt    decoder.MemoryType
	bytes []byte
}

type global struct {
	gt   decoder.GlobalType
	bits uint64
}

// instance is a module instance (spec 4.2.5).
type instance struct {
	s        *Store
	m        *decoder.Module
	funcs    []*function
	tables   []*table
	memories []*memory
	globals  []*global
	elems    [][]uint64
	datas    [][]byte
	exports  map[string]any
}

func (m *memory) grow(delta uint64) uint64 {
	old := uint64(len(m.bytes) / pageSize)
	limit := uint64(maxPages)
	if m.mt.HasMax {
		limit = min(limit, m.mt.Max)
	}
	if old+delta > limit {
		return m32
	}
	m.bytes = append(m.bytes, make([]byte, delta*pageSize)...)
	return old
}

func (t *table) grow(value, delta uint64) uint64 {
	old := uint64(len(t.elems))
	limit := uint64(10_000_000)
	if t.tt.HasMax {
		limit = min(limit, t.tt.Max)
	}
	if old+delta > limit {
		return m32
	}
	for range delta {
		t.elems = append(t.elems, value)
	}
	return old
}

// Store holds everything that modules allocate (spec 4.2.4).
type Store struct {
	refs []*function
	// Fuel, if positive, is how many more instructions may run; when it is
	// used up, calls fail with ErrOutOfFuel.
	Fuel int64
	// MaxDepth is how deep calls may nest.
	MaxDepth int
	depth    int
	fueled   bool
}

func (s *Store) newFunc(f *function) *function {
	s.refs = append(s.refs, f)
	f.ref = uint64(len(s.refs))
	return f
}

// importedType reports whether a provided limit satisfies a wanted one
// (spec 4.5.4): size is the current one.
func limitsMatch(want decoder.Limits, size uint64, have decoder.Limits) bool {
	return size >= want.Min && (!want.HasMax || have.HasMax && have.Max <= want.Max)
}

// link checks an import against what was provided.
func (in *instance) link(imp *decoder.Import, e any) bool {
	switch imp.Kind {
	case decoder.ExternFunc:
		f, ok := e.(*function)
		if !ok || !f.ft.Equal(in.m.FuncType(imp.Index)) {
			return false
		}
		in.funcs = append(in.funcs, f)
	case decoder.ExternTable:
		t, ok := e.(*table)
		want := in.m.Tables[imp.Index]
		if !ok || t.tt.Elem != want.Elem || !limitsMatch(want.Limits, uint64(len(t.elems)), t.tt.Limits) {
			return false
		}
		in.tables = append(in.tables, t)
	case decoder.ExternMemory:
		mem, ok := e.(*memory)
		if !ok || !limitsMatch(in.m.Memories[imp.Index].Limits, uint64(len(mem.bytes)/pageSize), mem.mt.Limits) {
			return false
		}
		in.memories = append(in.memories, mem)
	case decoder.ExternGlobal:
		g, ok := e.(*global)
		if !ok || g.gt != in.m.Globals[imp.Index].GlobalType {
			return false
		}
		in.globals = append(in.globals, g)
	}
	return true
}

// eval runs a constant expression.
func (in *instance) eval(e decoder.ConstExpr) uint64 {
	var stack []uint64
	for _, i := range e {
		switch i.Op {
		case decoder.ConstValue:
			stack = append(stack, i.Bits)
		case decoder.ConstGlobal:
			stack = append(stack, in.globals[i.Index].bits)
		case decoder.ConstRefNull:
			stack = append(stack, 0)
		case decoder.ConstRefFunc:
			stack = append(stack, in.funcs[i.Index].ref)
		default:
			n := len(stack) - 1
			r, _ := Numeric(constNumeric[i.Op], stack[n-1], stack[n])
			stack = append(stack[:n-1], r)
		}
	}
	return stack[len(stack)-1]
}

var constNumeric = map[decoder.ConstOp]uint32{
	decoder.ConstI32Add: 0x6a, decoder.ConstI32Sub: 0x6b, decoder.ConstI32Mul: 0x6c,
	decoder.ConstI64Add: 0x7c, decoder.ConstI64Sub: 0x7d, decoder.ConstI64Mul: 0x7e,
}

// allocate makes what the module defines (spec 4.5.5), before any segment
// is copied.
func (in *instance) allocate(codes []*code) {
	m := in.m
	for i, c := range codes {
		index := m.NumImportedFuncs + uint32(i)
		in.funcs = append(in.funcs, in.s.newFunc(&function{ft: m.FuncType(index), inst: in, code: c, index: index}))
	}
	for _, tt := range m.Tables[m.NumImportedTables:] {
		in.tables = append(in.tables, &table{tt, make([]uint64, tt.Min)})
	}
	for _, mt := range m.Memories[m.NumImportedMemories:] {
		in.memories = append(in.memories, &memory{mt, make([]byte, mt.Min*pageSize)})
	}
	for i := int(m.NumImportedGlobals); i < len(m.Globals); i++ {
		g := &m.Globals[i]
		in.globals = append(in.globals, &global{g.GlobalType, in.eval(g.Init)})
	}
	for i := range m.Elems {
		e := &m.Elems[i]
		refs := make([]uint64, 0, e.Len())
		for _, f := range e.Funcs {
			refs = append(refs, in.funcs[f].ref)
		}
		for _, x := range e.Exprs {
			refs = append(refs, in.eval(x))
		}
		in.elems = append(in.elems, refs)
	}
	for i := range m.Datas {
		in.datas = append(in.datas, m.Bytes[m.Datas[i].Start:m.Datas[i].End])
	}
	in.exports = map[string]any{}
	for _, x := range m.Exports {
		switch x.Kind {
		case decoder.ExternFunc:
			in.exports[x.Name] = in.funcs[x.Index]
		case decoder.ExternTable:
			in.exports[x.Name] = in.tables[x.Index]
		case decoder.ExternMemory:
			in.exports[x.Name] = in.memories[x.Index]
		case decoder.ExternGlobal:
			in.exports[x.Name] = in.globals[x.Index]
		}
	}
}

// initialise copies the active segments and runs the start function.
func (in *instance) initialise() error {
	for i := range in.m.Elems {
		e := &in.m.Elems[i]
		if e.Mode == decoder.SegmentActive {
			if err := in.tableInit(in.tables[e.Table], in.elems[i], in.eval(e.Offset), 0, uint64(e.Len())); err != nil {
				return err
			}
		}
		if e.Mode != decoder.SegmentPassive {
			in.elems[i] = nil
		}
	}
	for i := range in.m.Datas {
		d := &in.m.Datas[i]
		if d.Mode != decoder.SegmentActive {
			continue
		}
		if err := in.memoryInit(in.memories[d.Memory], in.datas[i], in.eval(d.Offset), 0, uint64(len(in.datas[i]))); err != nil {
			return err
		}
		in.datas[i] = nil
	}
	if in.m.HasStart {
		_, err := in.s.call(in.funcs[in.m.Start], nil)
		return err
	}
	return nil
}
