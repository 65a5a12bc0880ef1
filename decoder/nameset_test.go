package decoder

import (
	"strconv"
	"testing"
)

func TestNameSet(t *testing.T) {
	for _, n := range []int{1, 2, 3, 1000, MaxExports} {
		s := newNameSet(n)
		var all []Export
		for i := range n {
			name := strconv.Itoa(i)
			if i == 0 {
				name = ""
			}
			if !s.add(name, all) {
				t.Fatalf("%q of %d names is called a second one", name, n)
			}
			all = append(all, Export{Name: name})
		}
		for _, e := range all {
			if s.add(e.Name, all) {
				t.Fatalf("%q of %d names is not found again", e.Name, n)
			}
		}
	}
}
