package runtime

import (
	"fmt"

	"github.com/wasmjit/wasmjit/decoder"
)

// Imports names what an instance may import: module name, then field name.
type Imports map[string]map[string]Extern

// LinkError reports an import that can't be satisfied (spec 4.5.4, the
// matching of external types).
type LinkError struct {
	Module, Name string
	Kind         decoder.ExternKind // what the module wants
	Reason       string             // "unknown import" or "incompatible import type", and details
}

func (e *LinkError) Error() string {
	return fmt.Sprintf("import %q.%q (%s): %s", e.Module, e.Name, e.Kind, e.Reason)
}

// link resolves the imports of the module in their order and appends them to
// the instance's index spaces.
func (i *Instance) link(imports Imports) error {
	d := i.module.Decoded()
	leaks := false
	for n := range d.Imports {
		im := &d.Imports[n]
		ext := imports[im.Module][im.Name]
		if isNil(ext) {
			return &LinkError{im.Module, im.Name, im.Kind, "unknown import"}
		}
		if want, got, ok := i.matches(im, ext); !ok {
			return &LinkError{im.Module, im.Name, im.Kind, fmt.Sprintf("incompatible import type: expected %s, found %s", want, got)}
		}
		if ext.home() != i.store {
			return &LinkError{im.Module, im.Name, im.Kind, "belongs to another store"}
		}
		// What is imported stays as long as the store does.
		if !ext.life().keep() {
			return &LinkError{im.Module, im.Name, im.Kind, "belongs to a closed instance"}
		}
		switch x := ext.(type) {
		case *Func:
			i.imported = append(i.imported, x)
			// Host functions see references through refOut only.
			leaks = leaks || x.host == nil && x.sig.funcRefParam
		case *Table:
			if x.final && i.changesTable(im.Index) {
				return &LinkError{im.Module, im.Name, im.Kind, "is final in this locked store, and the module changes it"}
			}
			i.tables = append(i.tables, x)
			leaks = leaks || x.declared.Elem == decoder.FuncRef
		case *Memory:
			i.memories = append(i.memories, x)
		case *Global:
			i.globals = append(i.globals, x)
			leaks = leaks || x.declared.Mutable && x.declared.Type == decoder.FuncRef
		}
	}
	if leaks {
		// Compiled code may store references to this instance's functions
		// where no one sees them.
		i.life.keep()
	}
	return nil
}

// isNil finds a nil of either kind: no entry, or an entry with a nil pointer.
func isNil(ext Extern) bool {
	switch x := ext.(type) {
	case *Func:
		return x == nil
	case *Table:
		return x == nil
	case *Memory:
		return x == nil
	case *Global:
		return x == nil
	}
	return true
}

// matches compares what the module wants with what there is (spec 3.2.7); the
// limits of a table or memory are its current size and declared maximum.
func (i *Instance) matches(im *decoder.Import, ext Extern) (want, got string, ok bool) {
	d := i.module.Decoded()
	if ext.kind() != im.Kind {
		return im.Kind.String(), ext.kind().String(), false
	}
	switch x := ext.(type) {
	case *Func:
		t := d.FuncType(im.Index)
		return "function " + typeString(t), "function " + typeString(&x.sig.typ), t.Equal(&x.sig.typ)
	case *Table:
		t, is := d.Tables[im.Index], x.declared
		is.Min = x.Len()
		return fmt.Sprintf("table of %s, %s", t.Elem, limitsString(t.Limits)), fmt.Sprintf("table of %s, %s", is.Elem, limitsString(is.Limits)),
			t.Elem == is.Elem && limitsMatch(is.Limits, t.Limits)
	case *Memory:
		t, is := d.Memories[im.Index].Limits, x.declared.Limits
		is.Min = x.Pages()
		return "memory, " + limitsString(t), "memory, " + limitsString(is), limitsMatch(is, t)
	case *Global:
		t := d.Globals[im.Index].GlobalType
		return globalString(t), globalString(x.declared), t == x.declared
	}
	return im.Kind.String(), "nothing", false
}

func limitsMatch(is, want decoder.Limits) bool {
	return is.Min >= want.Min && (!want.HasMax || is.HasMax && is.Max <= want.Max)
}

func limitsString(l decoder.Limits) string {
	if l.HasMax {
		return fmt.Sprintf("size %d to %d", l.Min, l.Max)
	}
	return fmt.Sprintf("size %d or more", l.Min)
}

func globalString(t decoder.GlobalType) string {
	if t.Mutable {
		return "mutable " + t.Type.String()
	}
	return "immutable " + t.Type.String()
}
