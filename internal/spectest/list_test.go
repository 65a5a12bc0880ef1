package spectest

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/internal/testenv"
	"github.com/wasmjit/wasmjit/internal/wast"
)

var update = flag.Bool("update", false, "rewrite testdata/spec/expected-failures.txt")

func listPath() string {
	return filepath.Join(testenv.Root(), "testdata", "spec", "expected-failures.txt")
}

// scripts gives the suite's directory and scripts, or skips the test.
func scripts(t *testing.T) (string, []string) {
	dir := testenv.SuiteDir()
	names, err := Scripts(dir)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no specification suite at %s (set %s); the suites of 1.0 and 2.0 in spectest/wazero run without it", dir, testenv.Suite)
	}
	if err != nil {
		t.Fatal(err)
	}
	if len(names) == 0 {
		t.Fatalf("no scripts below %s/binary", dir)
	}
	return dir, names
}

func readList(t *testing.T) map[string][]Entry {
	f, err := os.Open(listPath())
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	list, err := ReadList(f)
	if err != nil {
		t.Fatalf("%s: %v", listPath(), err)
	}
	return list
}

// listLines gives a file's lines for the list and refuses failures that no
// proposal explains.
func listLines(t *testing.T, f *File) []string {
	var lines []string
	for i := range f.Outcomes {
		if o := &f.Outcomes[i]; o.Status == wast.Failed && f.Proposal(o) == "" {
			t.Errorf("%s:%d: %s: %s (no proposal explains it, so it can't go on the list)", f.Name, o.Command.Line, o.Command.Op, o.Reason)
		}
	}
	for _, e := range Entries(f) {
		lines = append(lines, e.String())
	}
	return lines
}

const listHead = `# What the specification's suite (3.0 tree, binary form) asks for and wasmjit
# does not do yet. One line is an unbroken run of failing commands: file, lines
# in the file, how many commands of each kind, the proposal, the reason.
# go test ./internal/spectest -run TestSpecSuite -update rewrites it; a failure
# that no proposal explains is never written.
`

func writeList(t *testing.T, lines []string, total Counts) {
	if err := os.MkdirAll(filepath.Dir(listPath()), 0o755); err != nil {
		t.Fatal(err)
	}
	text := listHead + fmt.Sprintf("# %s.\n", total) + strings.Join(lines, "\n") + "\n"
	if err := os.WriteFile(listPath(), []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestList checks that the comparison sees each kind of difference.
func TestList(t *testing.T) {
	const script = `(module binary "\00")
(assert_return (invoke "f"))
(assert_return (invoke "g"))
(assert_return (invoke "h"))
`
	cmds, err := wast.Parse([]byte(script))
	if err != nil {
		t.Fatal(err)
	}
	outcomes := func(failed ...int) *File {
		f := &File{Name: "core/simd/x.bin.wast"}
		for i := range cmds {
			f.Outcomes = append(f.Outcomes, wast.Outcome{Command: &cmds[i]})
		}
		for _, i := range failed {
			f.Outcomes[i].Status, f.Outcomes[i].Feature = wast.Failed, "simd"
		}
		return f
	}
	var text strings.Builder
	for _, e := range Entries(outcomes(0, 1, 2)) {
		text.WriteString(e.String() + "\n")
	}
	if got, want := text.String(), "core/simd/x.bin.wast:1-3: 2 assert_return, 1 module: simd: not supported yet\n"; got != want {
		t.Fatalf("list:\n%swant:\n%s", got, want)
	}
	list, err := ReadList(strings.NewReader(text.String()))
	if err != nil {
		t.Fatal(err)
	}
	for _, x := range []struct {
		failed []int
		want   int
	}{{[]int{0, 1, 2}, 0}, {[]int{0, 2}, 1}, {[]int{0, 1, 2, 3}, 1}, {nil, 3}} {
		if got := Compare(outcomes(x.failed...), list["core/simd/x.bin.wast"]); len(got) != x.want {
			t.Errorf("failing %v: %d complaints, want %d: %v", x.failed, len(got), x.want, got)
		}
	}
	other := outcomes(0, 1, 2)
	other.Outcomes[1].Feature = "gc"
	if got := Compare(other, list["core/simd/x.bin.wast"]); len(got) != 1 {
		t.Errorf("another proposal: %v", got)
	}
}
