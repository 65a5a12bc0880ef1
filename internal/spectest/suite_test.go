package spectest

import (
	"testing"

	"github.com/wasmjit/wasmjit/internal/engine/native"
	"github.com/wasmjit/wasmjit/internal/testenv"
	"github.com/wasmjit/wasmjit/internal/wast"
)

// TestSpecSuite runs the whole suite on the compiler. What fails must stand on
// the list, and what stands there must fail.
func TestSpecSuite(t *testing.T) {
	mode := testenv.Get(t)
	runSuite(t, mode)
	if !mode.Default() || *update {
		return
	}
	for _, m := range testenv.Others() {
		t.Run(m.String(), func(t *testing.T) { runSuite(t, m) })
	}
}

func runSuite(t *testing.T, mode testenv.Mode) {
	dir, names := scripts(t)
	var list map[string][]Entry
	if !*update {
		list = readList(t)
	}
	var total Counts
	var lines []string
	for _, name := range names {
		e, err := native.New(mode)
		if err != nil {
			t.Fatal(err)
		}
		f, err := RunFile(dir, name, e)
		if err != nil {
			t.Fatal(err)
		}
		if err := e.Close(); err != nil {
			t.Errorf("%s: closing the store: %v", name, err)
		}
		total.Add(f)
		textOnly(t, f)
		if *update {
			lines = append(lines, listLines(t, f)...)
			continue
		}
		for _, c := range Compare(f, list[name]) {
			t.Error(c)
		}
		delete(list, name)
	}
	for name := range list {
		t.Errorf("%s is on the list, but not in the suite", name)
	}
	t.Logf("%d scripts, %s (%s)", len(names), total, mode)
	if *update && !t.Failed() {
		writeList(t, lines, total)
	}
}

// textOnly names the commands that test the text format.
func textOnly(t *testing.T, f *File) {
	for i := range f.Outcomes {
		if o := &f.Outcomes[i]; o.Status == wast.TextOnly {
			t.Logf("%s:%d: %s is about the text format: skipped", f.Name, o.Command.Line, o.Command.Op)
		}
	}
}
