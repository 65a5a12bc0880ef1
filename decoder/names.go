package decoder

import (
	"sync"
	"unicode/utf8"
	"unsafe"
)

// names are the function names of a module. They are read when one is first
// asked for: a name section can be megabytes long, and compiling needs none.
type names struct {
	once  sync.Once
	funcs []nameRef // by function index; may be short
	// other names the functions that funcs doesn't, by export or import.
	other map[uint32]string
}

// nameRef is a name in Module.Bytes; size 0 for none.
type nameRef struct{ start, size uint32 }

// FuncName gives the name of function fn: from the name section, else that of
// an export, else "module.name" of an import, else "". A broken name section
// counts only as far as it can be read (spec 7.4.1).
func (m *Module) FuncName(fn uint32) string {
	if m.names == nil {
		return ""
	}
	m.names.once.Do(m.readNames)
	if int64(fn) < int64(len(m.names.funcs)) {
		if r := m.names.funcs[fn]; r.size > 0 {
			return string(m.Bytes[r.start : r.start+r.size])
		}
	}
	return m.names.other[fn]
}

func (m *Module) readNames() {
	for _, c := range m.Customs {
		if c.Name == "name" {
			m.nameSection(c)
			break
		}
	}
	named := func(fn uint32) bool {
		return int64(fn) < int64(len(m.names.funcs)) && m.names.funcs[fn].size > 0
	}
	other := map[uint32]string{}
	for i := range m.Exports {
		e := &m.Exports[i]
		if _, ok := other[e.Index]; !ok && e.Kind == ExternFunc && !named(e.Index) {
			other[e.Index] = e.Name
		}
	}
	for i := range m.Imports {
		e := &m.Imports[i]
		if _, ok := other[e.Index]; !ok && e.Kind == ExternFunc && !named(e.Index) {
			other[e.Index] = e.Module + "." + e.Name
		}
	}
	m.names.other = other
}

// nameSection reads subsection 1, the function names.
func (m *Module) nameSection(c Custom) {
	r := reader{base: unsafe.Pointer(unsafe.SliceData(m.Bytes)), pos: int(c.Start), end: int(c.End)}
	for r.pos < r.end {
		id := r.byte("a subsection")
		start, end := r.span("a subsection")
		if r.err != nil {
			return
		}
		if id == 1 {
			r.pos, r.end = start, end
			m.functionNames(&r)
			return
		}
	}
}

func (m *Module) functionNames(r *reader) {
	n := r.count("names", MaxFuncs, 2)
	if n == 0 {
		return
	}
	// Names stand in ascending order, so an entry costs at least two bytes and
	// the table is bounded by what the section holds and the module has.
	refs := make([]nameRef, 0, min(n, len(m.Funcs)))
	for range n {
		fn := r.u32("a function index")
		start, end := r.span("a name")
		if r.err != nil || int64(fn) >= int64(len(m.Funcs)) {
			break
		}
		if !utf8.Valid(m.Bytes[start:end]) {
			continue
		}
		for int64(len(refs)) <= int64(fn) {
			refs = append(refs, nameRef{})
		}
		refs[fn] = nameRef{uint32(start), uint32(end - start)}
	}
	m.names.funcs = refs
}
