package arm64

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"
)

// undecodable are the forms that x/arch's decoder doesn't know, or not by the
// name of their system register.
var undecodable = map[string]bool{"Udf": true, "Mrs": true, "Msr": true}

// aliases are the names that the decoder prefers for some operands of another
// instruction. Those rows are left to the goldens.
var aliases = map[string]bool{
	"mvn": true, "cmp": true, "cmn": true, "tst": true, "neg": true, "negs": true,
	"mul": true, "mneg": true, "mov": true, "lsl": true, "lsr": true,
}

// randomRows is how many random cases of each form are decoded.
const randomRows = 1000

// TestDecode encodes random operands and compares the text with what an
// independent decoder makes of the bytes, aliases and spelling aside.
func TestDecode(t *testing.T) {
	var a Asm
	for _, f := range forms {
		if undecodable[f.method] {
			continue
		}
		p := newPicker(f.method, false)
		compared := 0
		for range randomRows {
			text, code := encode(&a, f, p)
			inst, err := arm64asm.Decode(code)
			if err != nil {
				t.Errorf("%s: %s: %x: %v", f.method, text, code, err)
				break
			}
			got, want := spelling(arm64asm.GNUSyntax(inst)), spelling(text)
			name, _, _ := strings.Cut(got, " ")
			if aliases[name] && got != want {
				continue
			}
			compared++
			if got != want {
				t.Errorf("%s: %x\n got %s\nwant %s", f.method, code, got, want)
				break
			}
		}
		if compared < randomRows/4 && f.rows > 4 && f.method != "MovI" {
			t.Errorf("%s: only %d of %d rows compared", f.method, compared, randomRows)
		}
	}
}

var (
	noShift  = regexp.MustCompile(`,(lsl|sxt.|uxt.) #0$`)
	extended = regexp.MustCompile(`,uxt[xw] #([0-9])$`)
	shifted  = regexp.MustCompile(`#0x([0-9a-f]+),lsl #12$`)
	relative = regexp.MustCompile(`\.([+-])(0x)?([0-9a-f]+)$`)
	float    = regexp.MustCompile(`^(fmov [sd][0-9]+,)#([-0-9.e+]+)$`)
)

// spelling brings GNU as's and the decoder's ways to write an instruction to
// one.
func spelling(s string) string {
	s = strings.ReplaceAll(strings.TrimSpace(s), ", ", ",")
	if strings.Contains(s, "sp,") {
		// With the stack pointer the full-width extension is called lsl.
		s = extended.ReplaceAllString(s, ",lsl #$1")
		s = strings.TrimSuffix(strings.TrimSuffix(s, ",uxtx"), ",uxtw")
	}
	s = noShift.ReplaceAllStringFunc(s, func(x string) string {
		if strings.HasPrefix(x, ",lsl") {
			return ""
		}
		return strings.TrimSuffix(x, " #0")
	})
	s = strings.ReplaceAll(s, ",#0]", "]")
	s = shifted.ReplaceAllString(s, "#0x${1}000")
	s = relative.ReplaceAllStringFunc(s, func(x string) string {
		m := relative.FindStringSubmatch(x)
		base := 10
		if m[2] != "" {
			base = 16
		}
		d, _ := strconv.ParseUint(m[3], base, 64)
		if m[1] == "-" {
			d = -d
		}
		return "." + strconv.FormatInt(int64(d), 10)
	})
	if m := float.FindStringSubmatch(s); m != nil {
		v, _ := strconv.ParseFloat(m[2], 64)
		s = m[1] + strconv.FormatFloat(v, 'g', -1, 64)
	}
	return s
}
