package decoder

import "testing"

func nameSection(subsections ...[]byte) []byte {
	return section(sectionCustom, str("name"), cat(subsections...))
}

func named(i byte, name string) []byte { return cat([]byte{i}, str(name)) }

func TestFuncName(t *testing.T) {
	base := cat(
		section(sectionType, vec(funcType(nil, nil))),
		section(sectionImport, vec(cat(str("env"), str("log"), []byte{0, 0}))),
		section(sectionFunction, vec([]byte{0}, []byte{0}, []byte{0})),
		section(sectionExport, vec(cat(str("run"), []byte{0, 1}), cat(str("also"), []byte{0, 1}))),
		section(sectionCode, vec(body(OpEnd), body(OpEnd), body(OpDrop, OpEnd))),
	)
	module0 := section(0, str("m")) // subsection 0, the module's name
	for _, c := range []struct {
		name string
		b    []byte
		want [4]string
	}{
		{"none", nil, [4]string{"env.log", "run", "", ""}},
		{"all", nameSection(module0, section(1, vec(named(0, "a"), named(1, "b"), named(2, "c"), named(3, "d")))), [4]string{"a", "b", "c", "d"}},
		{"some", nameSection(section(1, vec(named(2, "c")))), [4]string{"env.log", "run", "c", ""}},
		{"first section counts", cat(nameSection(section(1, vec(named(2, "c")))), nameSection(section(1, vec(named(2, "x"))))), [4]string{"env.log", "run", "c", ""}},
		{"cut", nameSection([]byte{1, 9, 2, 0, 1, 'a', 2}), [4]string{"env.log", "run", "", ""}},
		{"cut inside", nameSection(section(1, []byte{3}, named(0, "a"), []byte{1, 5, 'b'})), [4]string{"a", "run", "", ""}},
		{"unknown function", nameSection(section(1, vec(named(2, "c"), named(99, "x")))), [4]string{"env.log", "run", "c", ""}},
		{"not UTF-8", nameSection(section(1, vec(named(0, "\xff"), named(2, "c")))), [4]string{"env.log", "run", "c", ""}},
		{"huge count", nameSection(section(1, leb(1<<32-1))), [4]string{"env.log", "run", "", ""}},
	} {
		t.Run(c.name, func(t *testing.T) {
			m, err := Decode(module(base, c.b))
			if err != nil {
				t.Fatal(err)
			}
			for i, want := range c.want {
				if have := m.FuncName(uint32(i)); have != want {
					t.Errorf("function %d is named %q, want %q", i, have, want)
				}
			}
			if have := m.FuncName(1 << 31); have != "" {
				t.Errorf("a function that doesn't exist is named %q", have)
			}
			if e := m.ValidateBody(3).(*Error); e.Func != 3 || e.FuncName != c.want[3] {
				t.Errorf("error names function %d %q", e.Func, e.FuncName)
			}
		})
	}
}
