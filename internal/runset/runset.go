// Package runset knows the programs of testdata/run: what they are called,
// where their modules lie and what they must print.
package runset

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// Program is one program of the set.
type Program struct {
	Name string
	// Arg is the argument of a run that takes milliseconds; without an
	// argument a run takes some tenths of a second.
	Arg string
	// Quick is what the run with Arg prints, Full what the other one does.
	Quick, Full string
}

// Go reports whether the program is written in Go: its module is megabytes and
// isn't checked in.
func (p Program) Go() bool { return strings.HasPrefix(p.Name, "go-") }

// Folder is where the sources, the table and the modules of the C programs
// are, below the root of the repository.
const Folder = "testdata/run"

// Source is the folder of a Go program, relative to the root.
func (p Program) Source() string {
	return filepath.Join(Folder, "go", strings.TrimPrefix(p.Name, "go-"))
}

// Module is the path of a C program's module, relative to the root.
func (p Program) Module() string { return filepath.Join(Folder, p.Name+".wasm") }

// List reads the table of the programs below root.
func List(root string) ([]Program, error) {
	path := filepath.Join(root, Folder, "expected.tsv")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var list []Program
	for i, line := range strings.Split(strings.TrimSpace(string(text)), "\n") {
		if strings.HasPrefix(line, "#") {
			continue
		}
		f := strings.Split(line, "\t")
		if len(f) != 4 {
			return nil, fmt.Errorf("%s:%d: %d columns, want 4", path, i+1, len(f))
		}
		list = append(list, Program{f[0], f[1], f[2], f[3]})
	}
	return list, nil
}
