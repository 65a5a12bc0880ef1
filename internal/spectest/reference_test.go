package spectest

import (
	"testing"

	"github.com/wasmjit/wasmjit/internal/refinterp"
)

// TestSpecReference runs the suite on the reference interpreter, which tests the
// interpreter, the runner and the list at once: off the list, nothing fails.
func TestSpecReference(t *testing.T) {
	dir, names := scripts(t)
	list := readList(t)
	var total Counts
	for _, name := range names {
		f, err := RunFile(dir, name, refinterp.New(0))
		if err != nil {
			t.Fatal(err)
		}
		total.Add(f)
		for _, c := range Compare(f, list[name]) {
			t.Error(c)
		}
	}
	t.Logf("%d scripts, %s", len(names), total)
}
