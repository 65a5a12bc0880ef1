package arm64

import (
	"bufio"
	"flag"
	"fmt"
	"math"
	"os"
	"reflect"
	"strings"
	"testing"
)

const goldenFile = "testdata/arm64.golden"

var writeCases = flag.String("cases", "", "write the golden cases as assembler source to this file and stop")

// goldenCases calls fn with each case of the golden file, in order.
func goldenCases(t *testing.T, fn func(method, text string, code []byte)) {
	var a Asm
	for _, f := range forms {
		p := newPicker(f.method, true)
		for range f.rows {
			p.row()
			text, code := encode(&a, f, p)
			fn(f.method, text, code)
		}
		for _, u := range p.unseen() {
			t.Errorf("%s: too few rows: %s", f.method, u)
		}
	}
}

// encode runs a form and gives its text and code.
func encode(a *Asm, f form, p *picker) (string, []byte) {
	a.Reset(16, false)
	a.Reserve(16)
	text := f.emit(a, p)
	return text, a.Bytes(16, a.Pos())
}

// expandFloat is the number that the 8 bits of an FMOV immediate stand for, by
// the formula of the manual: (-1)^s * (16+f)/16 * 2^e.
func expandFloat(imm uint8) float64 {
	e := int(imm>>4&7^4) - 3
	v := math.Ldexp(float64(16+imm&15), e-4)
	if imm&0x80 != 0 {
		v = -v
	}
	return v
}

func floatBits(double bool, v float64) uint64 {
	if double {
		return math.Float64bits(v)
	}
	return uint64(math.Float32bits(float32(v)))
}

// TestGolden compares every encoder's bytes with GNU as's. The golden file is
// written by scripts/golden-arm64.sh.
func TestGolden(t *testing.T) {
	if *writeCases != "" {
		var b strings.Builder
		goldenCases(t, func(_, text string, _ []byte) { b.WriteString(text + "\n") })
		if err := os.WriteFile(*writeCases, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		t.Skip("cases written")
	}
	file, err := os.Open(goldenFile)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	in := bufio.NewScanner(file)
	bad := 0
	goldenCases(t, func(method, text string, code []byte) {
		if !in.Scan() {
			t.Fatalf("golden file ends before %q: run scripts/golden-arm64.sh", text)
		}
		want, bytes, _ := strings.Cut(in.Text(), " // ")
		if want != text {
			t.Fatalf("golden file is stale: has %q for %q: run scripts/golden-arm64.sh", want, text)
		}
		if got := fmt.Sprintf("%x", code); got != bytes && bad < 20 {
			t.Errorf("%s: %s\n got %s\nwant %s", method, text, got, bytes)
			bad++
		}
	})
	if in.Scan() {
		t.Errorf("golden file has more: %q: run scripts/golden-arm64.sh", in.Text())
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
}

// TestFormsComplete fails for an encoder that no form covers.
func TestFormsComplete(t *testing.T) {
	covered := map[string]bool{
		// Not encoders, or tested apart: label_test.go and range_test.go.
		"Reset": true, "Reserve": true, "Pos": true, "SetPos": true, "Bytes": true,
		"SetReach": true, "TooFar": true, "PatchBranch": true, "PatchHere": true, "Bind": true,
		"JumpL": true, "AdrL": true, "BCondL": true, "CbzL": true, "TbzL": true, "BCondFar": true, "CallFar": true, "CbzFar": true,
	}
	for _, f := range forms {
		name, _, _ := strings.Cut(f.method, ".")
		covered[name] = true
	}
	typ := reflect.TypeFor[*Asm]()
	for i := range typ.NumMethod() {
		if name := typ.Method(i).Name; !covered[name] {
			t.Errorf("no form covers %s", name)
		}
		delete(covered, typ.Method(i).Name)
	}
	for name := range covered {
		t.Errorf("a form names %s, which isn't there", name)
	}
}
