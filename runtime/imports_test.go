//go:build linux

package runtime

import (
	"errors"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
)

// importing makes a module with one import. The types it needs are set by
// the caller.
func importing(kind decoder.ExternKind) *decoder.Module {
	d := &decoder.Module{Imports: []decoder.Import{{Module: "m", Name: "x", Kind: kind}}}
	switch kind {
	case decoder.ExternFunc:
		d.NumImportedFuncs = 1
		d.Funcs = []uint32{0}
	case decoder.ExternTable:
		d.NumImportedTables = 1
	case decoder.ExternMemory:
		d.NumImportedMemories = 1
	case decoder.ExternGlobal:
		d.NumImportedGlobals = 1
	}
	return d
}

func TestLinkErrors(t *testing.T) {
	s := newStore(t, Config{})
	other := newStore(t, Config{})
	f := s.NewFunc(decoder.FuncType{Params: types(decoder.I32), Results: types(decoder.F32, decoder.I64)}, nil)
	mem := func(l decoder.Limits) *Memory {
		m, err := s.NewMemory(decoder.MemoryType{Limits: l})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	grown := mem(between(1, 4))
	grown.Grow(2)
	tab := newTable(t, s, decoder.FuncRef, between(10, 20))
	mutable := s.NewGlobal(decoder.GlobalType{Type: decoder.I32, Mutable: true}, 0)
	fixed := s.NewGlobal(decoder.GlobalType{Type: decoder.I32}, 0)

	wantFunc := func(ft decoder.FuncType) *decoder.Module {
		d := importing(decoder.ExternFunc)
		d.Types = []decoder.FuncType{ft}
		return d
	}
	wantMem := func(l decoder.Limits) *decoder.Module {
		d := importing(decoder.ExternMemory)
		d.Memories = []decoder.MemoryType{{Limits: l}}
		return d
	}
	wantTable := func(elem decoder.Type, l decoder.Limits) *decoder.Module {
		d := importing(decoder.ExternTable)
		d.Tables = []decoder.TableType{{Elem: elem, Limits: l}}
		return d
	}
	wantGlobal := func(g decoder.GlobalType) *decoder.Module {
		d := importing(decoder.ExternGlobal)
		d.Globals = []decoder.Global{{GlobalType: g}}
		return d
	}
	const unknown, incompatible = "unknown import", "incompatible import type"
	for _, c := range []struct {
		what   string
		d      *decoder.Module
		ext    Extern
		reason string // "" if it links
	}{
		{"nothing", wantFunc(decoder.FuncType{}), nil, unknown},
		{"nil function", wantFunc(decoder.FuncType{}), (*Func)(nil), unknown},
		{"same type", wantFunc(decoder.FuncType{Params: types(decoder.I32), Results: types(decoder.F32, decoder.I64)}), f, ""},
		{"other parameter", wantFunc(decoder.FuncType{Params: types(decoder.I64), Results: types(decoder.F32, decoder.I64)}), f, incompatible},
		{"fewer results", wantFunc(decoder.FuncType{Params: types(decoder.I32), Results: types(decoder.F32)}), f, incompatible},
		{"parameter for result", wantFunc(decoder.FuncType{Params: types(decoder.I32, decoder.F32), Results: types(decoder.I64)}), f, incompatible},
		{"memory for function", wantFunc(decoder.FuncType{}), grown, incompatible},
		{"function for memory", wantMem(atLeast(0)), f, incompatible},
		{"memory", wantMem(between(1, 4)), mem(between(1, 4)), ""},
		{"wider memory limits", wantMem(atLeast(0)), mem(between(1, 4)), ""},
		{"small memory", wantMem(atLeast(2)), mem(between(1, 4)), incompatible},
		{"grown memory", wantMem(between(3, 4)), grown, ""},
		{"memory with a higher maximum", wantMem(between(1, 3)), grown, incompatible},
		{"memory without a maximum", wantMem(between(1, 3)), mem(atLeast(1)), incompatible},
		{"table", wantTable(decoder.FuncRef, between(10, 20)), tab, ""},
		{"table of another type", wantTable(decoder.ExternRef, between(10, 20)), tab, incompatible},
		{"small table", wantTable(decoder.FuncRef, atLeast(11)), tab, incompatible},
		{"table with a higher maximum", wantTable(decoder.FuncRef, between(10, 19)), tab, incompatible},
		{"global for table", wantTable(decoder.FuncRef, atLeast(0)), fixed, incompatible},
		{"global", wantGlobal(decoder.GlobalType{Type: decoder.I32}), fixed, ""},
		{"mutable for immutable", wantGlobal(decoder.GlobalType{Type: decoder.I32}), mutable, incompatible},
		{"immutable for mutable", wantGlobal(decoder.GlobalType{Type: decoder.I32, Mutable: true}), fixed, incompatible},
		{"global of another type", wantGlobal(decoder.GlobalType{Type: decoder.F32}), fixed, incompatible},
		{"another store's", wantGlobal(decoder.GlobalType{Type: decoder.I32}), other.NewGlobal(decoder.GlobalType{Type: decoder.I32}, 0), "belongs to another store"},
	} {
		m := compile(t, s, c.d)
		i, err := s.Instantiate(bg, m, Imports{"m": {"x": c.ext}})
		if c.reason == "" {
			if err != nil {
				t.Errorf("%s: %v", c.what, err)
			} else {
				i.Close()
			}
			continue
		}
		var link *LinkError
		if !errors.As(err, &link) {
			t.Errorf("%s: error %v, not a link error", c.what, err)
			continue
		}
		if link.Module != "m" || link.Name != "x" || link.Kind != c.d.Imports[0].Kind || !strings.HasPrefix(link.Reason, c.reason) {
			t.Errorf("%s: %+v, want reason %q", c.what, link, c.reason)
		}
		if msg := link.Error(); !strings.HasPrefix(msg, `import "m"."x" (`) || strings.Contains(msg, "\n") {
			t.Errorf("%s: message %q", c.what, msg)
		}
	}
	if n := s.Kept(); n != 1 {
		t.Errorf("%d instances kept, want the one that imported a table of functions", n)
	}
}

func TestExports(t *testing.T) {
	s := newStore(t, Config{})
	f := s.NewFunc(decoder.FuncType{}, nil)
	d := importing(decoder.ExternFunc)
	d.Types = []decoder.FuncType{{}}
	d.Memories = []decoder.MemoryType{{Limits: atLeast(1)}}
	d.Tables = []decoder.TableType{{Elem: decoder.FuncRef, Limits: atLeast(3)}}
	d.Globals = []decoder.Global{{GlobalType: decoder.GlobalType{Type: decoder.I32}, Init: i32(42)}}
	d.RefFuncs = []uint32{0}
	d.Exports = []decoder.Export{{Name: "f"}, {Name: "m", Kind: decoder.ExternMemory}, {Name: "t", Kind: decoder.ExternTable}, {Name: "", Kind: decoder.ExternGlobal}}
	i := instantiate(t, s, d, Imports{"m": {"x": f}})
	if i.Func("f") != f || i.Export("f") != Extern(f) {
		t.Error("a re-exported function isn't itself")
	}
	if again := i.Memory("m"); i.Memory("m").Pages() != 1 || i.Memory("m") != again || i.Table("t").Len() != 3 || i.Global("").Get() != 42 {
		t.Error("wrong exports")
	}
	if i.Func("m") != nil || i.Memory("f") != nil || i.Table("m") != nil || i.Global("t") != nil || i.Export("nothing") != nil {
		t.Error("an export of another kind or name was found")
	}
	if _, err := i.Call(bg, "g"); err == nil || err.Error() != `no exported function "g"` {
		t.Errorf("error %v", err)
	}
	mem, tab, glob := i.Memory("m"), i.Table("t"), i.Global("")
	i.Close()
	i.Close()
	if i.Export("m") != nil || mem.Bytes() != nil || tab.Len() != 0 || glob.Get() != 0 {
		t.Error("exports outlive the instance")
	}
	if _, err := i.Call(bg, "f"); !errors.Is(err, errClosed) {
		t.Errorf("error %v", err)
	}
	if s.Kept() != 0 || len(s.instances) != 0 {
		t.Error("a closed instance is still there")
	}
}

// What another instance imported stays until the store's close.
func TestKeepImported(t *testing.T) {
	s := newStore(t, Config{})
	d := &decoder.Module{
		Memories: []decoder.MemoryType{{Limits: atLeast(1)}},
		Exports:  []decoder.Export{{Name: "m", Kind: decoder.ExternMemory}},
	}
	a := instantiate(t, s, d, nil)
	user := importing(decoder.ExternMemory)
	user.Memories = []decoder.MemoryType{{Limits: atLeast(1)}}
	user.Exports = []decoder.Export{{Name: "n", Kind: decoder.ExternMemory}}
	b := instantiate(t, s, user, Imports{"m": {"x": a.Memory("m")}})
	if b.Memory("n") != a.Memory("m") {
		t.Error("an imported memory isn't itself")
	}
	mem := b.Memory("n")
	mem.Bytes()[5] = 6
	a.Close()
	if s.Kept() != 1 || mem.Bytes()[5] != 6 {
		t.Error("an imported memory ended with its instance")
	}
	b.Close()
	if s.Kept() != 1 || len(s.instances) != 1 {
		t.Errorf("%d kept, %d instances", s.Kept(), len(s.instances))
	}
	closed := instantiate(t, s, d, nil)
	mem = closed.Memory("m")
	closed.Close()
	var link *LinkError
	if _, err := s.Instantiate(bg, compile(t, s, user), Imports{"m": {"x": mem}}); !errors.As(err, &link) {
		t.Errorf("importing from what is closed: %v", err)
	}
}
