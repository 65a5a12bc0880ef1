package wast

import (
	"fmt"
	"strings"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/engine"
)

// argument turns a script's value into the words a call takes.
func (r *Runner) argument(v *Value, t decoder.Type) ([]uint64, error) {
	switch {
	case v.Op == "ref.null" && t.IsRef():
		return []uint64{0}, nil
	case (v.Op == "ref.extern" || v.Op == "ref.host") && v.HasRef && t == decoder.ExternRef:
		return []uint64{r.Engine.ExternRef(v.Ref)}, nil
	case len(v.Lanes) > 0 && v.Type() == t:
		return v.Words(), nil
	}
	return nil, fmt.Errorf("argument %s does not fit %s", v, t)
}

// splitWords groups the words of results into typed values.
func splitWords(types []decoder.Type, words []uint64) ([]engine.Value, error) {
	vals := make([]engine.Value, len(types))
	for i, t := range types {
		n := 1
		if t == decoder.V128 {
			n = 2
		}
		if len(words) < n {
			return nil, fmt.Errorf("too few result words for %d results", len(types))
		}
		vals[i] = engine.Value{Type: t, Lo: words[0]}
		if n == 2 {
			vals[i].Hi = words[1]
		}
		words = words[n:]
	}
	if len(words) > 0 {
		return nil, fmt.Errorf("%d result words too many", len(words))
	}
	return vals, nil
}

func (r *Runner) assertReturn(c *Command) error {
	got, err := r.action(c.Inner)
	if err != nil {
		return err
	}
	if len(got) != len(c.Want) {
		return fmt.Errorf("expected %d results, found %d", len(c.Want), len(got))
	}
	for i := range got {
		if !r.matches(&c.Want[i], got[i]) {
			return fmt.Errorf("result %d: expected %s, found %s", i, c.Want[i], formatValue(got[i]))
		}
	}
	return nil
}

// matches reports whether an expected result accepts a value.
func (r *Runner) matches(w *Value, got engine.Value) bool {
	switch w.Op {
	case "either":
		for i := range w.Alts {
			if r.matches(&w.Alts[i], got) {
				return true
			}
		}
		return false
	case "ref.null":
		return got.Type.IsRef() && got.Lo == 0 && (w.Type() == decoder.Bot || w.Type() == got.Type)
	case "ref.func":
		return got.Type == decoder.FuncRef && got.Lo != 0
	case "ref.extern", "ref.host":
		if got.Type != decoder.ExternRef || got.Lo == 0 {
			return false
		}
		n, ok := r.Engine.ExternValue(got.Lo)
		return !w.HasRef || ok && n == w.Ref
	}
	if len(w.Lanes) == 0 || w.Type() != got.Type {
		return false
	}
	words := [2]uint64{got.Lo, got.Hi}
	for i, l := range w.Lanes {
		at := i * w.Width
		// A scalar's whole word must match: an i32 comes zero-extended.
		if len(w.Lanes) == 1 && w.Width == 32 && words[0]>>32 != 0 {
			return false
		}
		if !l.Matches(words[at/64]>>(at%64), w.Width) {
			return false
		}
	}
	return true
}

func formatValue(v engine.Value) string {
	// The bits of a reference differ from run to run.
	if v.Type.IsRef() && v.Lo != 0 {
		return fmt.Sprintf("a non-null %s", v.Type)
	}
	if v.Type == decoder.V128 {
		return fmt.Sprintf("v128 0x%016x%016x", v.Hi, v.Lo)
	}
	return fmt.Sprintf("%s 0x%x", v.Type, v.Lo)
}

// Spectest is the host module that the scripts import.
func Spectest() *engine.HostModule {
	h := &engine.HostModule{
		Funcs: map[string]engine.HostFunc{},
		Globals: map[string]engine.HostGlobal{
			"global_i32": {Type: decoder.GlobalType{Type: decoder.I32}, Bits: 666},
			"global_i64": {Type: decoder.GlobalType{Type: decoder.I64}, Bits: 666},
			"global_f32": {Type: decoder.GlobalType{Type: decoder.F32}, Bits: 0x4426a666},
			"global_f64": {Type: decoder.GlobalType{Type: decoder.F64}, Bits: 0x4084d4cccccccccd},
		},
		Tables: map[string]decoder.TableType{
			"table": {Elem: decoder.FuncRef, Limits: decoder.Limits{Min: 10, Max: 20, HasMax: true}},
		},
		Memories: map[string]decoder.MemoryType{
			"memory": {Limits: decoder.Limits{Min: 1, Max: 2, HasMax: true}},
		},
	}
	types := map[string]decoder.Type{"i32": decoder.I32, "i64": decoder.I64, "f32": decoder.F32, "f64": decoder.F64}
	for _, name := range []string{"print", "print_i32", "print_i64", "print_f32", "print_f64", "print_i32_f32", "print_f64_f64"} {
		var ft decoder.FuncType
		for _, p := range strings.Split(name, "_")[1:] {
			ft.Params = append(ft.Params, types[p])
		}
		h.Funcs[name] = engine.HostFunc{Type: ft, Fn: func([]uint64) error { return nil }}
	}
	return h
}
