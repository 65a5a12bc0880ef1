// Package spectest runs the specification's suite in binary form and holds
// its failures against a checked-in list, assertion by assertion.
package spectest

import (
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/wasmjit/wasmjit/internal/engine"
	"github.com/wasmjit/wasmjit/internal/wast"
)

// File is a script of the suite and what became of its commands.
type File struct {
	// Name is its path below the suite's binary directory, with slashes.
	Name     string
	Outcomes []wast.Outcome
}

// suffix marks the scripts.
const suffix = ".bin.wast"

// Scripts lists the scripts below dir/binary in order.
func Scripts(dir string) ([]string, error) {
	root := filepath.Join(dir, "binary")
	var names []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || !strings.HasSuffix(path, suffix) {
			return err
		}
		rel, err := filepath.Rel(root, path)
		names = append(names, filepath.ToSlash(rel))
		return err
	})
	slices.Sort(names)
	return names, err
}

// RunFile runs one script over a fresh engine.
func RunFile(dir, name string, e engine.Engine) (*File, error) {
	src, err := os.ReadFile(filepath.Join(dir, "binary", filepath.FromSlash(name)))
	if err != nil {
		return nil, err
	}
	cmds, err := wast.Parse(src)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	r := &wast.Runner{Engine: e, Known: func(p string) bool { return slices.Contains(proposals, p) }}
	out, err := r.Run(cmds)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &File{name, out}, nil
}

// proposals are those that the suite contains, by the decoder's names.
var proposals = []string{
	"exceptions", "function-references", "gc", "legacy-exceptions", "memory64", "multi-memory",
	"relaxed-simd", "simd", "tail-call", "threads",
}

// Proposal names what a failure waits for, "" if nothing explains it: then it
// is a bug and may not go on the list.
func (f *File) Proposal(o *wast.Outcome) string {
	if o.Feature != "" {
		return o.Feature
	}
	return explained[fmt.Sprintf("%s:%d", f.Name, o.Command.Line)]
}

// explained names the proposal for failures in which the decoder can't name
// one, since no opcode or type of the proposal is near.
var explained = map[string]string{
	// What a module with several memories should have written before.
	"core/multi-memory/linking0.bin.wast:34": "multi-memory",
	"core/multi-memory/load1.bin.wast:22":    "multi-memory",
	"core/multi-memory/load1.bin.wast:23":    "multi-memory",
	"core/multi-memory/load1.bin.wast:24":    "multi-memory",
	"core/multi-memory/load1.bin.wast:25":    "multi-memory",
	"core/multi-memory/load1.bin.wast:26":    "multi-memory",
	// Written before reference types allowed more than one table.
	"threads/imports.bin.wast:255": "reference-types",
	"threads/imports.bin.wast:258": "reference-types",
	"threads/imports.bin.wast:261": "reference-types",
}

// Reason is the reason of a failure as the list writes it: without the part
// that follows from another failure.
func Reason(o *wast.Outcome) string {
	// The decoder's words hold offsets and opcodes that vary within a run.
	if o.Feature != "" {
		return "not supported yet"
	}
	return o.Reason
}

// Counts is a tally of outcomes.
type Counts struct {
	Passed, Failed, TextOnly int
}

// Add counts a file's outcomes.
func (c *Counts) Add(f *File) {
	for i := range f.Outcomes {
		switch f.Outcomes[i].Status {
		case wast.Passed:
			c.Passed++
		case wast.Failed:
			c.Failed++
		case wast.TextOnly:
			c.TextOnly++
		}
	}
}

func (c Counts) String() string {
	return fmt.Sprintf("%d passed, %d failed, %d text-only", c.Passed, c.Failed, c.TextOnly)
}
