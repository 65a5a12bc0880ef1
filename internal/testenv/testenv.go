// Package testenv reads, in one place, the environment variables that put
// every suite into another mode of the compiler.
package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
)

// Variables that the suites obey.
const (
	// Registers=3 leaves three allocatable registers of each kind.
	Registers = "WASMJIT_TEST_REGS"
	// Reference=1 compiles with every value in its home slot.
	Reference = "WASMJIT_TEST_REFERENCE"
	// Bounds=explicit compares every address with the memory's size.
	Bounds = "WASMJIT_TEST_BOUNDS"
	// CPU=baseline compiles for a processor without optional instructions.
	CPU = "WASMJIT_TEST_CPU"
	// Workers=N compiles with N workers.
	Workers = "WASMJIT_TEST_WORKERS"
	// Programs=N is how many random programs the differential test compares.
	Programs = "WASMJIT_TEST_PROGRAMS"
	// Suite is the directory of the specification suite.
	Suite = "WASM_TESTSUITE"
)

// Mode is what the variables ask for.
type Mode struct {
	FewRegisters   bool
	Reference      bool
	ExplicitBounds bool
	BaselineCPU    bool
	Workers        int
	Programs       int // 0: the test's own number
}

// FromEnv reads the variables; a value that means nothing is an error, so
// that a misspelt mode can't pass as the default one.
func FromEnv() (Mode, error) {
	m := Mode{Workers: 1}
	bad := func(name string) error {
		return fmt.Errorf("%s=%q means nothing", name, os.Getenv(name))
	}
	switch os.Getenv(Registers) {
	case "":
	case "3":
		m.FewRegisters = true
	default:
		return m, bad(Registers)
	}
	switch os.Getenv(Reference) {
	case "", "0":
	case "1":
		m.Reference = true
	default:
		return m, bad(Reference)
	}
	switch os.Getenv(Bounds) {
	case "", "guard":
	case "explicit":
		m.ExplicitBounds = true
	default:
		return m, bad(Bounds)
	}
	switch os.Getenv(CPU) {
	case "", "native":
	case "baseline":
		m.BaselineCPU = true
	default:
		return m, bad(CPU)
	}
	for _, x := range []struct {
		name string
		dst  *int
		max  int
	}{{Workers, &m.Workers, 1024}, {Programs, &m.Programs, 1 << 30}} {
		if s := os.Getenv(x.name); s != "" {
			n, err := strconv.Atoi(s)
			if err != nil || n < 1 || n > x.max {
				return m, bad(x.name)
			}
			*x.dst = n
		}
	}
	return m, nil
}

// Default reports whether no variable asked for another mode; then tests that
// are quick also run in the others.
func (m Mode) Default() bool {
	return !m.FewRegisters && !m.Reference && !m.ExplicitBounds && !m.BaselineCPU
}

// Others are the modes besides the default one.
func Others() []Mode {
	return []Mode{
		{Workers: 1, FewRegisters: true},
		{Workers: 1, Reference: true},
		{Workers: 1, ExplicitBounds: true},
		{Workers: 2, FewRegisters: true, ExplicitBounds: true, BaselineCPU: true},
	}
}

// Get is FromEnv for tests.
func Get(t testing.TB) Mode {
	t.Helper()
	m, err := FromEnv()
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (m Mode) String() string {
	s := fmt.Sprintf("workers=%d", m.Workers)
	if m.FewRegisters {
		s += " registers=3"
	}
	if m.Reference {
		s += " reference"
	}
	if m.BaselineCPU {
		s += " cpu=baseline"
	}
	if m.ExplicitBounds {
		s += " bounds=explicit"
	}
	return s
}

// Root is the directory of the repository.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// SuiteDir is the directory of the specification suite, whether it exists
// or not.
func SuiteDir() string {
	if d := os.Getenv(Suite); d != "" {
		return d
	}
	return filepath.Join(Root(), "..", "shared", "testsuite")
}
