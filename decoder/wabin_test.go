package decoder

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tetratelabs/wabin/binary"
	"github.com/tetratelabs/wabin/leb128"
	"github.com/tetratelabs/wabin/wasm"
)

// randomModule builds a valid module with wabin's types.
func randomModule(r *rand.Rand) *wasm.Module {
	valTypes := []wasm.ValueType{wasm.ValueTypeI32, wasm.ValueTypeI64, wasm.ValueTypeF32, wasm.ValueTypeF64, wasm.ValueTypeFuncref, wasm.ValueTypeExternref}
	randTypes := func() (t []wasm.ValueType) {
		for range r.IntN(5) {
			t = append(t, valTypes[r.IntN(len(valTypes))])
		}
		return t
	}
	i32Const := func(v int32) *wasm.ConstantExpression {
		return &wasm.ConstantExpression{Opcode: OpI32Const, Data: leb128.EncodeInt32(v)}
	}
	m := &wasm.Module{}
	for range 1 + r.IntN(20) {
		m.TypeSection = append(m.TypeSection, &wasm.FunctionType{Params: randTypes(), Results: randTypes()})
	}
	funcs := uint32(r.IntN(5))
	for i := range funcs {
		m.ImportSection = append(m.ImportSection, &wasm.Import{Type: wasm.ExternTypeFunc, Module: "env", Name: fmt.Sprint(i), DescFunc: uint32(r.IntN(len(m.TypeSection)))})
	}
	m.ImportSection = append(m.ImportSection, &wasm.Import{Type: wasm.ExternTypeGlobal, Module: "env", Name: "g", DescGlobal: &wasm.GlobalType{ValType: wasm.ValueTypeI64}})
	for range 1 + r.IntN(300) {
		m.FunctionSection = append(m.FunctionSection, uint32(r.IntN(len(m.TypeSection))))
		m.CodeSection = append(m.CodeSection, &wasm.Code{LocalTypes: randTypes(), Body: []byte{OpUnreachable, OpEnd}})
		funcs++
	}
	m.TableSection = []*wasm.Table{{Min: uint32(r.IntN(1000)), Type: wasm.RefTypeFuncref}}
	m.MemorySection = &wasm.Memory{Min: uint32(r.IntN(9)), Max: uint32(9 + r.IntN(60000)), IsMaxEncoded: true}
	for range r.IntN(9) {
		v := int32(r.Uint32()) >> r.IntN(32)
		m.GlobalSection = append(m.GlobalSection, &wasm.Global{Type: &wasm.GlobalType{ValType: wasm.ValueTypeI32, Mutable: r.IntN(2) == 0}, Init: i32Const(v)})
	}
	for i := range r.IntN(9) {
		m.ExportSection = append(m.ExportSection, &wasm.Export{Type: wasm.ExternTypeFunc, Name: fmt.Sprintf("export %d", i), Index: uint32(r.IntN(int(funcs)))})
	}
	for range r.IntN(9) {
		e := &wasm.ElementSegment{OffsetExpr: i32Const(int32(r.IntN(1000))), Mode: wasm.ElementModeActive, Type: wasm.RefTypeFuncref}
		for range r.IntN(200) {
			i := uint32(r.IntN(int(funcs)))
			e.Init = append(e.Init, &i)
		}
		m.ElementSection = append(m.ElementSection, e)
		m.DataSection = append(m.DataSection, &wasm.DataSegment{OffsetExpression: i32Const(int32(r.Uint32())), Init: make([]byte, r.IntN(300))})
	}
	m.NameSection = &wasm.NameSection{}
	for i := range funcs {
		if r.IntN(3) > 0 {
			m.NameSection.FunctionNames = append(m.NameSection.FunctionNames, &wasm.NameAssoc{Index: i, Name: fmt.Sprintf("func.%d", i)})
		}
	}
	m.CustomSections = []*wasm.CustomSection{{Name: "extra", Data: []byte{1, 2, 3}}}
	return m
}

// TestAgainstWabin decodes what an independent encoder wrote.
func TestAgainstWabin(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 100 {
		want := randomModule(r)
		m, err := Decode(binary.EncodeModule(want))
		if err != nil {
			t.Fatal(err)
		}
		if err := ValidateBodies(m, 2); err != nil {
			t.Fatal(err)
		}
		compareWabin(t, m, want)
		if t.Failed() {
			return
		}
	}
}

func compareWabin(t *testing.T, m *Module, want *wasm.Module) {
	sameTypes := func(have []Type, want []wasm.ValueType) bool {
		return slices.EqualFunc(have, want, func(a Type, b wasm.ValueType) bool { return a.String() == wasm.ValueTypeName(b) })
	}
	check := func(what string, ok bool) {
		if !ok {
			t.Errorf("%s differ", what)
		}
	}
	konst := func(x ConstExpr, want *wasm.ConstantExpression) bool {
		return len(x) == 1 && x[0].Op == ConstValue && x[0].Type == I32 && slices.Equal(leb128.EncodeInt32(int32(x[0].Bits)), want.Data)
	}
	check("types", slices.EqualFunc(m.Types, want.TypeSection, func(a FuncType, b *wasm.FunctionType) bool {
		return sameTypes(a.Params, b.Params) && sameTypes(a.Results, b.Results)
	}))
	check("imports", slices.EqualFunc(m.Imports, want.ImportSection, func(a Import, b *wasm.Import) bool {
		return a.Module == b.Module && a.Name == b.Name && byte(a.Kind) == b.Type &&
			(a.Kind != ExternFunc || m.Funcs[a.Index] == b.DescFunc)
	}))
	check("functions", slices.Equal(m.Funcs[m.NumImportedFuncs:], want.FunctionSection))
	check("tables", len(m.Tables) == 1 && m.Tables[0].Min == uint64(want.TableSection[0].Min) && !m.Tables[0].HasMax)
	check("memories", len(m.Memories) == 1 && m.Memories[0].Limits == Limits{uint64(want.MemorySection.Min), uint64(want.MemorySection.Max), true})
	check("globals", slices.EqualFunc(m.Globals[1:], want.GlobalSection, func(a Global, b *wasm.Global) bool {
		return a.Type == I32 && a.Mutable == b.Type.Mutable && konst(a.Init, b.Init)
	}))
	check("exports", slices.EqualFunc(m.Exports, want.ExportSection, func(a Export, b *wasm.Export) bool {
		return a.Name == b.Name && byte(a.Kind) == b.Type && a.Index == b.Index
	}))
	refs := map[uint32]bool{}
	for _, e := range m.Exports {
		refs[e.Index] = true
	}
	check("element segments", slices.EqualFunc(m.Elems, want.ElementSection, func(a ElemSegment, b *wasm.ElementSegment) bool {
		return a.Mode == SegmentActive && konst(a.Offset, b.OffsetExpr) && slices.EqualFunc(a.Funcs, b.Init, func(x uint32, y *uint32) bool {
			refs[x] = true
			return x == *y
		})
	}))
	check("data segments", slices.EqualFunc(m.Datas, want.DataSection, func(a DataSegment, b *wasm.DataSegment) bool {
		return a.Mode == SegmentActive && konst(a.Offset, b.OffsetExpression) && string(m.Bytes[a.Start:a.End]) == string(b.Init)
	}))
	check("function references", slices.IsSorted(m.RefFuncs) && len(m.RefFuncs) == len(refs) &&
		!slices.ContainsFunc(m.RefFuncs, func(i uint32) bool { return !refs[i] }))
	v := Validator{Mod: m}
	for i, c := range want.CodeSection {
		fn := m.NumImportedFuncs + uint32(i)
		pc, ok := v.Begin(fn)
		if !ok || string(m.Bytes[pc:v.End]) != string(c.Body) || !sameTypes(v.Locals[len(m.FuncType(fn).Params):], c.LocalTypes) {
			t.Errorf("function %d differs", fn)
		}
	}
	for _, n := range want.NameSection.FunctionNames {
		if have := m.FuncName(n.Index); have != n.Name {
			t.Errorf("function %d is named %q, want %q", n.Index, have, n.Name)
		}
	}
	extra := slices.IndexFunc(m.Customs, func(c Custom) bool { return c.Name == "extra" })
	check("custom sections", extra >= 0 && string(m.Bytes[m.Customs[extra].Start:m.Customs[extra].End]) == "\x01\x02\x03")
}
