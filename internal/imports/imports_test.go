package imports

import (
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const module = "github.com/wasmjit/wasmjit"

// rooms says which rooms of this module each room may import. A room is a
// folder with all that lies below it; the longest name that fits counts.
var rooms = map[string][]string{
	"codemem":      {},
	"asm/amd64":    {},
	"asm/arm64":    {},
	"decoder":      {},
	"liftoff":      {"decoder", "asm/amd64", "asm/arm64"},
	"nativemodule": {"liftoff", "codemem", "decoder"},
	"runtime":      {"nativemodule", "liftoff", "codemem", "decoder", "asm/amd64", "asm/arm64"},
	"wasi":         {"runtime", "nativemodule", "liftoff", "codemem", "decoder"},
	"cmd":          {"wasi", "runtime", "nativemodule", "liftoff", "codemem", "decoder", "asm/amd64", "asm/arm64", "internal/synth", "internal/syscount", "internal/doctor", "internal/attack", "internal/samples", "internal/measure"},

	"internal/syscount": {},
	"internal/samples":  {},
	"internal/measure":  {},
	"internal/optable":  {},
	"internal/synth":    {"decoder"},
	"internal/attack":   {"runtime", "nativemodule", "liftoff", "codemem", "decoder"},
	"internal/doctor":   {"internal/attack", "internal/syscount", "codemem"},
	// The rest of internal is apparatus of tests, which no program imports.
	"internal": {"runtime", "wasi", "nativemodule", "liftoff", "codemem", "decoder", "internal/synth", "internal/optable"},
	// Generators and checks run by hand or by make; nothing imports them.
	"scripts": {"internal/samples", "internal/measure", "internal/optable"},
}

// testOnly are the rooms that every test may import besides.
var testOnly = []string{"internal", "internal/synth"}

// foreign says which rooms may import a dependency outside of tests; every
// other dependency is refused. The runtime parts stay with x/sys alone, so
// that a program that embeds wasmjit gets no command-line libraries.
var foreign = map[string][]string{
	"golang.org/x/sys":                  {"codemem", "asm/amd64", "asm/arm64", "nativemodule", "runtime", "wasi", "internal/syscount", "internal/attack", "internal/doctor", "cmd"},
	"golang.org/x/arch":                 {"cmd"},
	"golang.org/x/term":                 {"cmd"},
	"github.com/spf13":                  {"cmd"},
	"github.com/jedib0t/go-pretty":      {"cmd"},
	"github.com/schollz/progressbar":    {"cmd"},
	"github.com/tetratelabs/wabin":      {"internal/synth"},
	"github.com/tetratelabs/wabin/wasm": {"internal/synth"},
}

func TestDirection(t *testing.T) {
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	err = filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if d.IsDir() {
			name := d.Name()
			if path == root {
				return nil
			}
			if strings.HasPrefix(name, ".") || name == "testdata" {
				return fs.SkipDir
			}
			// A folder with its own go.mod is another module.
			if _, err := os.Stat(filepath.Join(path, "go.mod")); err == nil {
				return fs.SkipDir
			}
			return nil
		}
		if filepath.Ext(path) != ".go" {
			return nil
		}
		seen++
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		for _, complaint := range check(t, path, filepath.ToSlash(rel)) {
			t.Errorf("%s: %s", rel, complaint)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if seen < 10 {
		t.Errorf("only %d Go files found below %s", seen, root)
	}
}

// check returns what is wrong with the imports of one file. It reads the
// files itself instead of asking the go command, so that files for other
// systems count too.
func check(t *testing.T, path, rel string) (complaints []string) {
	f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
	if err != nil {
		t.Fatal(err)
	}
	from := room(filepath.ToSlash(filepath.Dir(rel)))
	if from == "" {
		return []string{"this folder is no room of the house: name it in this test and in README.md"}
	}
	test := strings.HasSuffix(rel, "_test.go")
	for _, spec := range f.Imports {
		imp, err := strconv.Unquote(spec.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		if c := judge(from, imp, test); c != "" {
			complaints = append(complaints, c)
		}
	}
	return complaints
}

func judge(from, imp string, test bool) string {
	if imp == "C" {
		return "imports C; wasmjit is built without cgo"
	}
	if rest, ok := strings.CutPrefix(imp, module+"/"); ok {
		to := room(rest)
		if to == from || slices.Contains(rooms[from], to) || test && slices.Contains(testOnly, to) {
			return ""
		}
		return from + " must not import " + rest
	}
	first, _, _ := strings.Cut(imp, "/")
	if !strings.Contains(first, ".") || test {
		return "" // the standard library
	}
	for dep, who := range foreign {
		if (imp == dep || strings.HasPrefix(imp, dep+"/")) && slices.Contains(who, from) {
			return ""
		}
	}
	return from + " must not depend on " + imp
}

// room is the longest room name that dir lies in, "" if none.
func room(dir string) string {
	for dir != "." && dir != "" {
		if _, ok := rooms[dir]; ok {
			return dir
		}
		dir = filepath.ToSlash(filepath.Dir(dir))
	}
	return ""
}

// TestJudge shows that the rules above bite.
func TestJudge(t *testing.T) {
	for _, c := range []struct {
		from, imp string
		test, bad bool
	}{
		{"decoder", module + "/liftoff", false, true},
		{"decoder", module + "/liftoff", true, true},
		{"liftoff", module + "/decoder", false, false},
		{"liftoff", module + "/asm/amd64", false, false},
		{"liftoff", module + "/codemem", false, true},
		{"liftoff", module + "/internal/synth", true, false},
		{"liftoff", module + "/internal/synth", false, true},
		{"runtime", module + "/internal/wast", true, false},
		{"runtime", module + "/internal/wast", false, true},
		{"cmd", module + "/internal/wast", false, true},
		{"nativemodule", module + "/runtime", false, true},
		{"runtime", module + "/wasi", false, true},
		{"asm/amd64", module + "/asm/arm64", false, true},
		{"cmd", module + "/wasi", false, false},
		{"runtime", "golang.org/x/sys/unix", false, false},
		{"decoder", "golang.org/x/sys/unix", false, true},
		{"runtime", "github.com/spf13/cobra", false, true},
		{"codemem", "C", false, true},
		{"codemem", "unsafe", false, false},
	} {
		if got := judge(c.from, c.imp, c.test); (got != "") != c.bad {
			t.Errorf("%s importing %s (test %v): %q", c.from, c.imp, c.test, got)
		}
	}
}
