package wasmtest

import "github.com/wasmjit/wasmjit/decoder"

// Module collects the sections of a module. Imports come before functions.
type Module struct {
	types   [][]byte
	typeIDs map[string]uint32

	imports  [][]byte
	funcs    [][]byte
	tables   [][]byte
	memories [][]byte
	globals  [][]byte
	exports  [][]byte
	elems    [][]byte
	codes    [][]byte
	datas    [][]byte
	start    int64

	numImportedFuncs, numTables, numMemories, numGlobals uint32
}

// New starts an empty module.
func New() *Module { return &Module{typeIDs: map[string]uint32{}, start: -1} }

// Types is a short way to write a list of types.
func Types(t ...decoder.Type) []decoder.Type { return t }

func appendTypes(b []byte, ts []decoder.Type) []byte {
	b = AppendU(b, uint64(len(ts)))
	for _, t := range ts {
		b = append(b, Type(t))
	}
	return b
}

func appendString(b []byte, s string) []byte {
	return append(AppendU(b, uint64(len(s))), s...)
}

// Type gives the index of a function type and adds it if it is new.
func (m *Module) Type(params, results []decoder.Type) uint32 {
	b := appendTypes(appendTypes([]byte{0x60}, params), results)
	id, ok := m.typeIDs[string(b)]
	if !ok {
		id = uint32(len(m.types))
		m.typeIDs[string(b)] = id
		m.types = append(m.types, b)
	}
	return id
}

// FuncType is Type for a function type.
func (m *Module) FuncType(f decoder.FuncType) uint32 { return m.Type(f.Params, f.Results) }

func (m *Module) addImport(module, name string, desc ...byte) {
	b := appendString(appendString(nil, module), name)
	m.imports = append(m.imports, append(b, desc...))
}

// ImportFunc imports a function and gives its index.
func (m *Module) ImportFunc(module, name string, typ uint32) uint32 {
	if len(m.funcs) > 0 {
		panic("wasmtest: import after a function")
	}
	m.addImport(module, name, AppendU([]byte{0}, uint64(typ))...)
	m.numImportedFuncs++
	return m.numImportedFuncs - 1
}

// ImportTable imports a table of at least min entries.
func (m *Module) ImportTable(module, name string, elem decoder.Type, min uint32) uint32 {
	m.addImport(module, name, AppendU([]byte{1, Type(elem), 0}, uint64(min))...)
	m.numTables++
	return m.numTables - 1
}

// ImportGlobal imports a global.
func (m *Module) ImportGlobal(module, name string, t decoder.Type, mutable bool) uint32 {
	m.addImport(module, name, 3, Type(t), boolByte(mutable))
	m.numGlobals++
	return m.numGlobals - 1
}

func boolByte(b bool) byte {
	if b {
		return 1
	}
	return 0
}

// Func adds a function, exported under name unless that is empty, and gives
// its index. The body's end is added.
func (m *Module) Func(name string, typ uint32, locals []decoder.Type, body Code) uint32 {
	index := m.numImportedFuncs + uint32(len(m.funcs))
	m.funcs = append(m.funcs, AppendU(nil, uint64(typ)))
	var groups []byte
	n := uint64(0)
	for i := 0; i < len(locals); {
		j := i
		for j < len(locals) && locals[j] == locals[i] {
			j++
		}
		groups = append(AppendU(groups, uint64(j-i)), Type(locals[i]))
		n++
		i = j
	}
	b := append(AppendU(nil, n), groups...)
	b = append(append(b, body...), 0x0b)
	m.codes = append(m.codes, append(AppendU(nil, uint64(len(b))), b...))
	if name != "" {
		m.Export(name, decoder.ExternFunc, index)
	}
	return index
}

// NextFunc is the index that the next Func gets.
func (m *Module) NextFunc() uint32 { return m.numImportedFuncs + uint32(len(m.funcs)) }

// Export exports an entity.
func (m *Module) Export(name string, kind decoder.ExternKind, index uint32) {
	m.exports = append(m.exports, AppendU(append(appendString(nil, name), byte(kind)), uint64(index)))
}

func limits(min uint64, max int64) []byte {
	if max < 0 {
		return AppendU([]byte{0}, min)
	}
	return AppendU(AppendU([]byte{1}, min), uint64(max))
}

// Table adds a table; a negative max is none.
func (m *Module) Table(elem decoder.Type, min uint64, max int64) uint32 {
	m.tables = append(m.tables, append([]byte{Type(elem)}, limits(min, max)...))
	m.numTables++
	return m.numTables - 1
}

// Memory adds a memory, in pages; a negative max is none.
func (m *Module) Memory(min uint64, max int64) uint32 {
	m.memories = append(m.memories, limits(min, max))
	m.numMemories++
	return m.numMemories - 1
}

// Global adds a mutable global.
func (m *Module) Global(t decoder.Type, bits uint64) uint32 {
	var c Code
	c.Const(t, bits).End()
	m.globals = append(m.globals, append([]byte{Type(t), 1}, c...))
	m.numGlobals++
	return m.numGlobals - 1
}

// Elem adds an active segment of functions.
func (m *Module) Elem(table, offset uint32, funcs ...uint32) {
	var c Code
	c.I32(int32(offset)).End()
	b := append(AppendU([]byte{2}, uint64(table)), c...)
	b = AppendU(append(b, 0), uint64(len(funcs)))
	for _, f := range funcs {
		b = AppendU(b, uint64(f))
	}
	m.elems = append(m.elems, b)
}

// Data adds an active segment of memory 0.
func (m *Module) Data(offset uint32, data []byte) {
	var c Code
	c.I32(int32(offset)).End()
	m.datas = append(m.datas, appendString(append([]byte{0}, c...), string(data)))
}

// PassiveData adds a passive data segment and gives its index.
func (m *Module) PassiveData(data []byte) uint32 {
	m.datas = append(m.datas, appendString([]byte{1}, string(data)))
	return uint32(len(m.datas) - 1)
}

// PassiveElem adds a passive segment of functions and gives its index.
func (m *Module) PassiveElem(funcs ...uint32) uint32 {
	b := AppendU([]byte{1, 0}, uint64(len(funcs)))
	for _, f := range funcs {
		b = AppendU(b, uint64(f))
	}
	m.elems = append(m.elems, b)
	return uint32(len(m.elems) - 1)
}

// Start sets the start function.
func (m *Module) Start(f uint32) { m.start = int64(f) }

// Bytes gives the module.
func (m *Module) Bytes() []byte {
	b := []byte("\x00asm\x01\x00\x00\x00")
	section := func(id byte, items [][]byte) {
		if len(items) == 0 {
			return
		}
		body := AppendU(nil, uint64(len(items)))
		for _, it := range items {
			body = append(body, it...)
		}
		b = append(AppendU(append(b, id), uint64(len(body))), body...)
	}
	section(1, m.types)
	section(2, m.imports)
	section(3, m.funcs)
	section(4, m.tables)
	section(5, m.memories)
	section(6, m.globals)
	section(7, m.exports)
	if m.start >= 0 {
		body := AppendU(nil, uint64(m.start))
		b = append(AppendU(append(b, 8), uint64(len(body))), body...)
	}
	section(9, m.elems)
	if len(m.datas) > 0 {
		n := AppendU(nil, uint64(len(m.datas)))
		b = append(AppendU(append(b, 12), uint64(len(n))), n...)
	}
	section(10, m.codes)
	section(11, m.datas)
	return b
}
