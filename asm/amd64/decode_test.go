package amd64

import (
	"fmt"
	"strings"
	"testing"

	"golang.org/x/arch/x86/x86asm"
)

// randomRows is how many random cases of each form are decoded.
const randomRows = 1000

// TestDecode encodes random operands and compares the text with what an
// independent decoder makes of the bytes.
func TestDecode(t *testing.T) {
	var a Asm
	bad := 0
	for _, f := range forms {
		p := newPicker(f.method, false)
		for range randomRows {
			text, code := encode(&a, f, p)
			inst, err := x86asm.Decode(code, 64)
			if err == nil && inst.Len != len(code) {
				err = fmt.Errorf("%d of %d bytes decoded", inst.Len, len(code))
			}
			if err != nil {
				t.Errorf("%s: %s: %x: %v", f.method, text, code, err)
				bad++
				break
			}
			if got, want := x86asm.IntelSyntax(inst, 0, nil), decoderText(text, inst.Len); got != want {
				t.Errorf("%s: %x\n got %s\nwant %s", f.method, code, got, want)
				bad++
				break
			}
		}
		if bad > 30 {
			t.Fatal("too many errors")
		}
	}
}

// decoderText rewrites a case's text the way x86asm prints an instruction of n
// bytes.
func decoderText(text string, n int) string {
	text = strings.TrimPrefix(text, "{disp32} ")
	text = strings.Replace(text, "+1*", "+", 1)
	switch name, _, _ := strings.Cut(text, " "); {
	case name == "lea":
		text = strings.Replace(text, "[", "ptr [", 1)
	case name == "blendvps" || name == "blendvpd":
		text = strings.TrimSuffix(text, ", xmm0")
	case name == "cmpsd":
		text = "cmpsd_xmm" + text[len(name):] // apart from the string instruction
	case strings.Contains(text, ".+"):
		// Relative to the next instruction, not to this one.
		text = strings.Replace(text, fmt.Sprintf(".+%#x", n), ".+0x0", 1)
	}
	return text
}
