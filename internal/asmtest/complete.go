package asmtest

import (
	"reflect"
	"strings"
	"testing"
)

// Complete fails for a method of the assembler that no form covers and that
// isn't among those without one (apart), and for a name that is no method.
func Complete(t *testing.T, assembler reflect.Type, forms []Form, apart ...string) {
	covered := map[string]bool{}
	for _, name := range apart {
		covered[name] = true
	}
	for _, f := range forms {
		name, _, _ := strings.Cut(f.Method, ".")
		covered[name] = true
	}
	for i := range assembler.NumMethod() {
		name := assembler.Method(i).Name
		if !covered[name] {
			t.Errorf("no form covers %s", name)
		}
		delete(covered, name)
	}
	for name := range covered {
		t.Errorf("a form names %s, which isn't there", name)
	}
}
