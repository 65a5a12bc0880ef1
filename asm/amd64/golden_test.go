package amd64

import (
	"reflect"
	"testing"

	"github.com/wasmjit/wasmjit/internal/asmtest"
)

// encoders are the forms as the frame of the tests takes them.
func encoders() (list []asmtest.Form) {
	var a Asm
	for _, f := range forms {
		list = append(list, asmtest.Form{Method: f.method, Rows: f.rows, Encode: func(p *asmtest.Picker) (string, []byte) {
			return encode(&a, f, &picker{p})
		}})
	}
	return list
}

// encode runs a form and gives its text and code.
func encode(a *Asm, f form, p *picker) (string, []byte) {
	a.Reset(16)
	a.Reserve(16)
	text := f.emit(a, p)
	return text, a.Bytes(16, a.Pos())
}

// TestGolden compares every encoder's bytes with GNU as's.
func TestGolden(t *testing.T) {
	asmtest.Golden(t, "amd64", ".intel_syntax noprefix\n", encoders())
}

// TestFormsComplete fails for an encoder that no form covers.
func TestFormsComplete(t *testing.T) {
	asmtest.Complete(t, reflect.TypeFor[*Asm](), encoders(),
		// Not encoders, or tested apart: buffer_test.go and label_test.go.
		"Reset", "Reserve", "Room", "Pos", "SetPos", "Prepend", "Bytes",
		"PatchShort", "PatchRel32", "JmpBack", "JccBack",
		"Bind", "JmpL", "JccL", "LeaL", "Nop")
}
