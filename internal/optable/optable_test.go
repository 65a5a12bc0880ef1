package optable

import (
	"strings"
	"testing"
)

func TestRows(t *testing.T) {
	rows, err := parse(strings.NewReader(`# comment
6a     i32.add        -    ii:i   mvp   binop   W32 Add
fd113  x.y_z          -    *      simd  unsupported -
fc0a   memory.copy    mem2 aaa:   bulk  rtcall  MemoryCopy
`))
	if err != nil {
		t.Fatal(err)
	}
	if len(rows) != 3 {
		t.Fatalf("%d rows, want 3", len(rows))
	}
	if r := rows[0]; r.Code != 0x6a || r.Ident != "I32Add" || r.Class != "binop" || len(r.Args) != 2 || r.Pops != "ii" || r.Push != "i" {
		t.Errorf("i32.add parsed as %+v", r)
	}
	if r := rows[1]; r.Prefix != 0xfd || r.Code != 0x113 || r.Ident != "XYZ" || r.Supported() || !r.Star || r.Args != nil {
		t.Errorf("second row parsed as %+v", r)
	}
	if r := rows[2]; r.Prefix != 0xfc || r.Code != 0xa || r.Imm != "mem2" || r.Pops != "aaa" || r.Push != "" || r.Feature != "bulk" {
		t.Errorf("memory.copy parsed as %+v", r)
	}
}

func TestRowErrors(t *testing.T) {
	const ok = "6a i32.add - ii:i mvp binop W32 Add\n"
	for _, c := range []struct{ text, want string }{
		{"6a i32.add - ii:i mvp binop", "6 columns"},
		{"6 i32.add - ii:i mvp binop -", `bad opcode "6"`},
		{"126a i32.add - ii:i mvp binop -", "bad prefix"},
		{"6a i32.add u32 ii:i mvp binop -", `unknown immediate kind "u32"`},
		{"6a i32.add - iii mvp binop -", "bad signature"},
		{"6a i32.add - i?:i mvp binop -", "bad letter"},
		{ok + "6a i32.sub - ii:i mvp binop -", "line 2: opcode of line 1 again"},
		{ok + "6b i32.add - ii:i mvp binop -", "line 2: name of line 1 again"},
	} {
		_, err := parse(strings.NewReader(c.text))
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%q: error %v, want %q", c.text, err, c.want)
		}
	}
}
