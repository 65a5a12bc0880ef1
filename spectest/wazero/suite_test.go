package wazero

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/internal/engine"
	"github.com/wasmjit/wasmjit/internal/engine/native"
	"github.com/wasmjit/wasmjit/internal/refinterp"
	"github.com/wasmjit/wasmjit/internal/testenv"
	"github.com/wasmjit/wasmjit/internal/wast"
)

// least is how many commands must pass, so that a suite that is found empty
// or is cut short can't pass unseen.
var least = map[string]int{"v1": 18000, "v2": 27000}

func TestSpecLiftoff(t *testing.T) {
	mode := testenv.Get(t)
	run(t, func() (engine.Engine, error) { return native.New(mode) })
	if !mode.Default() {
		return
	}
	for _, m := range testenv.Others() {
		t.Run(m.String(), func(t *testing.T) {
			run(t, func() (engine.Engine, error) { return native.New(m) })
		})
	}
}

func TestSpecReference(t *testing.T) {
	run(t, func() (engine.Engine, error) { return refinterp.New(0), nil })
}

// tally counts outcomes.
type tally struct {
	passed, superseded int
	simd               map[string]int // per script
	textOnly           map[string]int // per kind of command
}

func run(t *testing.T, open func() (engine.Engine, error)) {
	dir, err := Dir()
	if err != nil {
		t.Fatal(err)
	}
	for _, version := range []string{"v1", "v2"} {
		t.Run(version, func(t *testing.T) {
			paths, err := Scripts(dir, version)
			if err != nil {
				t.Fatal(err)
			}
			n := tally{simd: map[string]int{}, textOnly: map[string]int{}}
			for _, path := range paths {
				e, err := open()
				if err != nil {
					t.Fatal(err)
				}
				outcomes, err := Run(path, e)
				if err != nil {
					t.Fatal(err)
				}
				if err := e.Close(); err != nil {
					t.Errorf("%s: closing the store: %v", filepath.Base(path), err)
				}
				n.add(t, version, filepath.Base(path), outcomes)
			}
			t.Logf("%d scripts: %d commands passed, %d of them by the rules of 2.0; text-only: %s; SIMD, not supported yet: %s",
				len(paths), n.passed, n.superseded, list(n.textOnly), list(n.simd))
			if n.passed < least[version] {
				t.Errorf("only %d commands passed, the suite has at least %d", n.passed, least[version])
			}
		})
	}
}

func (n *tally) add(t *testing.T, version, file string, outcomes []wast.Outcome) {
	for i := range outcomes {
		o := &outcomes[i]
		want := ""
		if version == "v1" {
			want = supersededReason(file, o.Command)
		}
		switch {
		case o.Status == wast.TextOnly:
			n.textOnly[o.Command.Op]++
		case o.Status == wast.Passed && want == "":
			n.passed++
		case o.Status == wast.Failed && want != "" && o.Reason == want:
			n.passed++
			n.superseded++
		case o.Status == wast.Failed && o.Feature == "simd" && strings.HasPrefix(file, "simd_"):
			n.simd[file]++
		case o.Status == wast.Passed:
			t.Errorf("%s/%s:%d: %s: passed, but 2.0 says: %s", version, file, o.Command.Line, o.Command.Op, want)
		default:
			t.Errorf("%s/%s:%d: %s: %s", version, file, o.Command.Line, o.Command.Op, o.Reason)
		}
	}
}

// list writes counts in the order of their names.
func list(counts map[string]int) string {
	if len(counts) == 0 {
		return "none"
	}
	total := 0
	var s []string
	for name, n := range counts {
		total += n
		s = append(s, fmt.Sprintf("%d %s", n, name))
	}
	slices.SortFunc(s, func(a, b string) int {
		return strings.Compare(a[strings.IndexByte(a, ' '):], b[strings.IndexByte(b, ' '):])
	})
	return fmt.Sprintf("%d (%s)", total, strings.Join(s, ", "))
}
