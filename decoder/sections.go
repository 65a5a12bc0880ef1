package decoder

import (
	"math"
	"slices"
)

// Section ids (spec 5.5.2).
const (
	sectionCustom = iota
	sectionType
	sectionImport
	sectionFunction
	sectionTable
	sectionMemory
	sectionGlobal
	sectionExport
	sectionStart
	sectionElement
	sectionCode
	sectionData
	sectionDataCount
	sectionTag // of the exception handling proposal
)

var sectionNames = [...]string{
	"custom section", "type section", "import section", "function section",
	"table section", "memory section", "global section", "export section",
	"start section", "element section", "code section", "data section",
	"data count section", "tag section",
}

// sectionRank is the place of each section in the only order allowed.
var sectionRank = [...]int{
	sectionType: 1, sectionImport: 2, sectionFunction: 3, sectionTable: 4,
	sectionMemory: 5, sectionTag: 6, sectionGlobal: 7, sectionExport: 8,
	sectionStart: 9, sectionElement: 10, sectionDataCount: 11,
	sectionCode: 12, sectionData: 13,
}

// sectionDecoder decodes the sections of one module in file order.
type sectionDecoder struct {
	reader
	m *Module

	defined int          // functions the function section declares
	types   []Type       // arena of parameter and result types
	consts  []ConstInstr // arena of constant expressions
	expr    []ConstInstr // the expression being decoded
	stack   []Type       // its operand types
}

// sections walks the section headers.
func (d *sectionDecoder) sections() {
	rank, last := 0, 0
	fileEnd := d.end
	for d.err == nil && d.pos < fileEnd {
		at := d.pos
		id := int(d.byte("a section"))
		if id >= len(sectionNames) {
			d.fail(at, CodeSection, "expected a section, found section id 0x%02x", id)
			return
		}
		name := sectionNames[id]
		if id != sectionCustom {
			if sectionRank[id] == rank {
				d.fail(at, CodeSection, "expected one %s, found a second", name)
				return
			}
			if sectionRank[id] < rank {
				d.fail(at, CodeSection, "expected the %s before the %s, found it behind", name, sectionNames[last])
				return
			}
			rank, last = sectionRank[id], id
		}
		start, end := d.span("the " + name)
		if d.err != nil {
			return
		}
		d.pos, d.end, d.within = start, end, name
		d.checkCounts(at, id)
		d.section(at, id)
		if d.err == nil && d.pos != end {
			d.fail(d.pos, CodeSection, "expected the end of the %s, found %d bytes more", name, end-d.pos)
		}
		d.pos, d.end, d.within = end, fileEnd, "file"
	}
	if d.err == nil {
		d.checkCounts(fileEnd, -1)
	}
}

func (d *sectionDecoder) section(at, id int) {
	switch id {
	case sectionCustom:
		d.customSection()
	case sectionType:
		d.typeSection()
	case sectionImport:
		d.importSection()
	case sectionFunction:
		d.functionSection()
	case sectionTable:
		d.tableSection()
	case sectionMemory:
		d.memorySection()
	case sectionTag:
		d.failUnsupported(at, "exceptions", "tag section")
	case sectionGlobal:
		d.globalSection()
	case sectionExport:
		d.exportSection()
	case sectionStart:
		d.startSection()
	case sectionElement:
		d.elementSection()
	case sectionDataCount:
		d.m.DataCount = d.u32("the number of data segments")
		d.m.HasDataCount = d.err == nil
	case sectionCode:
		d.codeSection()
	case sectionData:
		d.dataSection()
	}
}

// checkCounts checks, where section next starts (-1 for the end of the file),
// that functions have bodies and counted data segments exist, as soon as a
// missing section shows.
func (d *sectionDecoder) checkCounts(at, next int) {
	if d.err != nil || next == sectionCustom {
		return
	}
	if next == sectionCode || next >= 0 && sectionRank[next] < sectionRank[sectionCode] {
		return
	}
	if d.defined > 0 && len(d.m.Bodies) == 0 {
		d.fail(at, CodeCount, "expected a code section with %d bodies, found none", d.defined)
		return
	}
	if next == -1 && d.m.HasDataCount && int64(d.m.DataCount) != int64(len(d.m.Datas)) {
		d.fail(at, CodeCount, "expected %d data segments, as the data count section says, found %d", d.m.DataCount, len(d.m.Datas))
	}
}

func (d *sectionDecoder) customSection() {
	name := d.name("the name of a custom section")
	if d.err != nil {
		return
	}
	d.m.Customs = append(d.m.Customs, Custom{name, uint32(d.pos), uint32(d.end)})
	d.pos = d.end
}

func (d *sectionDecoder) typeSection() {
	n := d.count("types", MaxTypes, 1)
	if d.err != nil {
		return
	}
	// The smallest function type has three bytes; shorter forms fail below.
	d.m.Types = make([]FuncType, 0, min(n, d.left()/3))
	d.types = make([]Type, 0, d.left())
	for i := 0; i < n && d.err == nil; i++ {
		at := d.pos
		switch form := d.byte("a function type"); form {
		case 0x60:
			params := d.typeVec("parameters", MaxParams)
			results := d.typeVec("results", MaxResults)
			d.m.Types = append(d.m.Types, FuncType{params, results})
		case 0x4e, 0x4f, 0x50, 0x5e, 0x5f:
			d.failUnsupported(at, "gc", "type form 0x%02x", form)
		case 0x5d:
			d.failUnsupported(at, "stack-switching", "type form 0x%02x", form)
		case 0x4c, 0x4d:
			d.failUnsupported(at, "custom-descriptors", "type form 0x%02x", form)
		default:
			d.fail(at, CodeEncoding, "expected a function type (0x60), found 0x%02x", form)
		}
	}
}

func (d *sectionDecoder) typeVec(what string, most int) []Type {
	n := d.count(what, most, 1)
	if n == 0 || d.err != nil {
		return nil
	}
	// The arena has room: it is as large as the section.
	from := len(d.types)
	for range n {
		d.types = append(d.types, d.valType("a value type"))
	}
	return d.types[from:len(d.types):len(d.types)]
}

func (d *sectionDecoder) typeIndex() uint32 {
	at := d.pos
	i := d.u32("a type index")
	if d.err == nil && int64(i) >= int64(len(d.m.Types)) {
		d.fail(at, CodeIndex, "unknown type %d: the module has %d types", i, len(d.m.Types))
	}
	return i
}

// indices appends n indices below limit to all, which has room. There can be
// hundreds of thousands, so this loop only notices a bad one; careful reads
// that one again and finds the words.
func (d *sectionDecoder) indices(all []uint32, n, limit int, careful func() uint32) []uint32 {
	for range n {
		i, next := U32(d.base, d.pos)
		if next > d.end || int64(i) >= int64(limit) {
			careful()
			return all
		}
		d.pos = next
		all = append(all, i)
	}
	return all
}

func (d *sectionDecoder) importSection() {
	m := d.m
	n := d.count("imports", MaxImports, 4)
	if d.err != nil {
		return
	}
	m.Imports = make([]Import, 0, n)
	for i := 0; i < n && d.err == nil; i++ {
		imp := Import{Module: d.name("a module name"), Name: d.name("an import name")}
		at := d.pos
		switch kind := d.byte("an import kind"); kind {
		case 0:
			imp.Kind, imp.Index = ExternFunc, uint32(len(m.Funcs))
			m.Funcs = append(m.Funcs, d.typeIndex())
			m.NumImportedFuncs++
		case 1:
			imp.Kind, imp.Index = ExternTable, uint32(len(m.Tables))
			m.Tables = append(m.Tables, d.tableType())
			m.NumImportedTables++
		case 2:
			imp.Kind, imp.Index = ExternMemory, uint32(len(m.Memories))
			d.addMemory()
			m.NumImportedMemories++
		case 3:
			imp.Kind, imp.Index = ExternGlobal, uint32(len(m.Globals))
			m.Globals = append(m.Globals, Global{GlobalType: d.globalType()})
			m.NumImportedGlobals++
		case 4:
			d.failUnsupported(at, "exceptions", "import of a tag")
		default:
			d.fail(at, CodeEncoding, "expected an import kind (0-3), found 0x%02x", kind)
		}
		m.Imports = append(m.Imports, imp)
	}
}

func (d *sectionDecoder) functionSection() {
	m := d.m
	n := d.count("functions", MaxFuncs, 1)
	if d.err != nil {
		return
	}
	all := make([]uint32, len(m.Funcs), len(m.Funcs)+n)
	copy(all, m.Funcs)
	m.Funcs, d.defined = d.indices(all, n, len(m.Types), d.typeIndex), n
}

// limits reads limits (spec 5.3.9) with their flags byte. A flag of a
// proposal is reported as such.
func (d *sectionDecoder) limits(what string) (l Limits) {
	at := d.pos
	switch flags := d.byte("limits of a " + what); {
	case flags > 0x0f || flags > 0x07 && what != "memory":
		d.fail(at, CodeEncoding, "expected limits (0x00 or 0x01), found 0x%02x", flags)
	case flags&8 != 0:
		d.failUnsupported(at, "custom-page-sizes", "%s limits with flags 0x%02x", what, flags)
	case flags&4 != 0:
		d.failUnsupported(at, "memory64", "%s limits with flags 0x%02x", what, flags)
	case flags&2 != 0:
		d.failUnsupported(at, "threads", "%s limits with flags 0x%02x", what, flags)
	case flags == 1:
		l.HasMax = true
	}
	l.Min = uint64(d.u32("the minimum of a " + what))
	l.Max = math.MaxUint32
	if l.HasMax {
		at = d.pos
		l.Max = uint64(d.u32("the maximum of a " + what))
		if d.err == nil && l.Max < l.Min {
			d.fail(at, CodeLimits, "expected a maximum of the %s not below its minimum of %d, found %d", what, l.Min, l.Max)
		}
	}
	return l
}

func (d *sectionDecoder) tableType() (t TableType) {
	t.Elem = d.refType("a reference type")
	t.Limits = d.limits("table")
	return t
}

func (d *sectionDecoder) tableSection() {
	n := d.count("tables", MaxTables, 1)
	d.m.Tables = slices.Grow(d.m.Tables, min(n, d.left()/3))
	for i := 0; i < n && d.err == nil; i++ {
		if at := d.pos; at < d.end && Byte(d.base, at) == 0x40 {
			d.failUnsupported(at, "function-references", "table with an initialiser")
			return
		}
		d.m.Tables = append(d.m.Tables, d.tableType())
	}
}

// addMemory reads a memory type (spec 5.3.8).
func (d *sectionDecoder) addMemory() {
	at := d.pos
	l := d.limits("memory")
	if d.err != nil {
		return
	}
	if l.Min > MaxMemoryPages || l.HasMax && l.Max > MaxMemoryPages {
		pages := l.Min
		if l.HasMax {
			pages = l.Max
		}
		d.fail(at, CodeLimits, "expected a memory of at most %d pages, found %d", MaxMemoryPages, pages)
		return
	}
	if len(d.m.Memories) == 1 {
		d.failUnsupported(at, "multi-memory", "second memory")
		return
	}
	if !l.HasMax {
		l.Max = MaxMemoryPages
	}
	d.m.Memories = append(d.m.Memories, MemoryType{l})
}

func (d *sectionDecoder) memorySection() {
	n := d.count("memories", MaxTables, 1)
	for i := 0; i < n && d.err == nil; i++ {
		d.addMemory()
	}
}

func (d *sectionDecoder) globalType() (g GlobalType) {
	g.Type = d.valType("the type of a global")
	at := d.pos
	switch b := d.byte("the mutability of a global"); {
	case b == 1:
		g.Mutable = true
	case b == 2 || b == 3:
		d.failUnsupported(at, "threads", "shared global")
	case b > 3:
		d.fail(at, CodeEncoding, "expected the mutability of a global (0 or 1), found 0x%02x", b)
	}
	return g
}

func (d *sectionDecoder) globalSection() {
	m := d.m
	n := d.count("globals", MaxGlobals, 3)
	if d.err != nil {
		return
	}
	all := make([]Global, len(m.Globals), len(m.Globals)+n)
	copy(all, m.Globals)
	m.Globals = all
	for i := 0; i < n && d.err == nil; i++ {
		g := Global{GlobalType: d.globalType()}
		g.Init = d.constExpr(g.Type, "the initialiser of a global")
		m.Globals = append(m.Globals, g)
	}
}

func (d *sectionDecoder) exportSection() {
	m := d.m
	n := d.count("exports", MaxExports, 3)
	if d.err != nil {
		return
	}
	m.Exports = make([]Export, 0, n)
	seen := newNameSet(n)
	for i := 0; i < n && d.err == nil; i++ {
		at := d.pos
		e := Export{Name: d.name("an export name")}
		if d.err == nil && !seen.add(e.Name, m.Exports) {
			d.fail(at, CodeDuplicate, "expected export names to be unique, found %q again", printable(e.Name))
			return
		}
		at = d.pos
		kind := d.byte("an export kind")
		if kind == 4 {
			d.failUnsupported(at, "exceptions", "export of a tag")
			return
		}
		if kind > 4 {
			d.fail(at, CodeEncoding, "expected an export kind (0-3), found 0x%02x", kind)
			return
		}
		e.Kind = ExternKind(kind)
		at = d.pos
		e.Index = d.u32("an index")
		if have := m.numOf(e.Kind); d.err == nil && int64(e.Index) >= int64(have) {
			d.fail(at, CodeIndex, "unknown %s %d: the module has %d", e.Kind, e.Index, have)
			return
		}
		if d.err == nil && e.Kind == ExternFunc {
			m.addRef(e.Index)
		}
		m.Exports = append(m.Exports, e)
	}
}

// numOf is the size of the index space of a kind.
func (m *Module) numOf(k ExternKind) int {
	switch k {
	case ExternFunc:
		return len(m.Funcs)
	case ExternTable:
		return len(m.Tables)
	case ExternMemory:
		return len(m.Memories)
	}
	return len(m.Globals)
}

func (d *sectionDecoder) startSection() {
	at := d.pos
	d.m.Start = d.funcIndex()
	if d.err != nil {
		return
	}
	if t := d.m.FuncType(d.m.Start); len(t.Params)+len(t.Results) > 0 {
		d.fail(at, CodeStart, "expected a start function without parameters and results, found function %d with type %s", d.m.Start, t)
		return
	}
	d.m.HasStart = true
}

func (d *sectionDecoder) funcIndex() uint32 {
	at := d.pos
	i := d.u32("a function index")
	if d.err == nil && int64(i) >= int64(len(d.m.Funcs)) {
		d.fail(at, CodeIndex, "unknown function %d: the module has %d", i, len(d.m.Funcs))
	}
	return i
}
