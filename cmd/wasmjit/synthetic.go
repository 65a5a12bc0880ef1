package main

import (
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wasmjit/wasmjit/internal/synth"
)

// syntheticNames are the values of --synthetic.
const syntheticNames = "unity, or unity:N for N functions"

// parseSynthetic reads a value of --synthetic.
func parseSynthetic(s string) (synth.Options, error) {
	name, count, counted := strings.Cut(s, ":")
	o := synth.Unity()
	if name != "unity" {
		return o, usagef("--synthetic must be %s, not %q", syntheticNames, s)
	}
	if counted {
		n, err := strconv.Atoi(count)
		if err != nil || n < 1 || n > 900_000 {
			return o, usagef("--synthetic unity:N needs a number from 1 to 900000, not %q", count)
		}
		o.Functions = n
	}
	return o, nil
}

// newSynthesize is the hidden command that writes a synthetic module to
// standard output. compile runs it in a process of its own, so that the
// memory which the generator takes doesn't count as the compiler's.
func newSynthesize(s streams) *cobra.Command {
	return &cobra.Command{
		Use:    synthesizeCommand + " NAME",
		Short:  "Write a synthetic module to standard output",
		Hidden: true,
		Args:   exactArgs(1, "the name of a module"),
		RunE: func(_ *cobra.Command, args []string) error {
			o, err := parseSynthetic(args[0])
			if err != nil {
				return err
			}
			_, err = s.out.Write(synth.Module(o))
			return err
		},
	}
}

const synthesizeCommand = "synthesize"

// synthesize runs the generator in a child and returns a file with the
// module, positioned at its start.
func synthesize(name string, s streams) (*os.File, error) {
	if _, err := parseSynthetic(name); err != nil {
		return nil, err
	}
	self, err := os.Executable()
	if err != nil {
		return nil, fmt.Errorf("synthetic module: %w", err)
	}
	f, err := scratchFile("wasmjit-synthetic")
	if err != nil {
		return nil, fmt.Errorf("synthetic module: %w", err)
	}
	child := exec.Command(self, synthesizeCommand, name)
	child.Stdout, child.Stderr = f, s.err
	if err = child.Run(); err == nil {
		_, err = f.Seek(0, 0)
	}
	if err != nil {
		_ = f.Close()
		return nil, fmt.Errorf("synthetic module: %w", err)
	}
	return f, nil
}
