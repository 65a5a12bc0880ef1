// Package asmtest is the frame of the tests of both assemblers: operands that
// are picked in every combination that matters, and encoders compared with the
// bytes that GNU as makes of the same text.
package asmtest

import (
	"bufio"
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"
)

var writeCases = flag.String("cases", "", "write the golden cases as assembler source to this `file` and stop")

// maxErrors is how many wrong encodings are shown.
const maxErrors = 20

// Form is an encoder under test.
type Form struct {
	Method string // the encoder's name, with a suffix after a dot where it has several forms
	Rows   int    // in the golden file
	// Encode draws operands and gives one instruction's text and code.
	Encode func(p *Picker) (text string, code []byte)
}

// Golden compares the forms' bytes with testdata/ARCH.golden, which
// scripts/golden.sh writes with GNU as. prologue stands above the cases in the
// assembler's source.
func Golden(t *testing.T, arch, prologue string, forms []Form) {
	if *writeCases != "" {
		var b strings.Builder
		b.WriteString(prologue)
		cases(t, forms, func(_, text string, _ []byte) { b.WriteString(text + "\n") })
		if err := os.WriteFile(*writeCases, []byte(b.String()), 0o666); err != nil {
			t.Fatal(err)
		}
		t.Skip("cases written")
	}
	file, err := os.Open("testdata/" + arch + ".golden")
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	in := bufio.NewScanner(file)
	bad := 0
	cases(t, forms, func(method, text string, code []byte) {
		if !in.Scan() {
			t.Fatalf("golden file ends before %q: run scripts/golden.sh %s", text, arch)
		}
		want, bytes, _ := strings.Cut(in.Text(), " // ")
		if want != text {
			t.Fatalf("golden file is stale: has %q for %q: run scripts/golden.sh %s", want, text, arch)
		}
		if got := fmt.Sprintf("%x", code); got != bytes && bad < maxErrors {
			t.Errorf("%s: %s\n got %s\nwant %s", method, text, got, bytes)
			bad++
		}
	})
	if in.Scan() {
		t.Errorf("golden file has more: %q: run scripts/golden.sh %s", in.Text(), arch)
	}
	if err := in.Err(); err != nil {
		t.Fatal(err)
	}
}

// cases calls fn with each case of the golden file, in order.
func cases(t *testing.T, forms []Form, fn func(method, text string, code []byte)) {
	for _, f := range forms {
		p := NewPicker(f.Method, true)
		for range f.Rows {
			p.Row()
			text, code := f.Encode(p)
			fn(f.Method, text, code)
		}
		for _, u := range p.Unseen() {
			t.Errorf("%s: too few rows: %s", f.Method, u)
		}
	}
}
