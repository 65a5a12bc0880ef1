package main

import (
	"errors"
	goruntime "runtime"

	"github.com/spf13/cobra"

	"github.com/wasmjit/wasmjit/decoder"
)

func newValidate(s streams) *cobra.Command {
	var jobs int
	c := &cobra.Command{
		Use:   "validate FILE...",
		Short: "Check modules without compiling them",
		Long: `Decodes and validates modules. Prints nothing about valid ones; each other
one gets a line on stderr with the offset and the function of its first error.
- is standard input. The exit code is that of the worst file.`,
		Example: `  wasmjit validate game.wasm
  curl -s https://example.org/game.wasm | wasmjit validate -`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("validate needs a FILE; see wasmjit validate --help")
			}
			return nil
		},
		RunE: func(_ *cobra.Command, args []string) error {
			if jobs < 1 {
				return usagef("--jobs must be at least 1, not %d", jobs)
			}
			var first error
			for _, name := range args {
				err := validate(s, name, jobs)
				if err == nil {
					continue
				}
				// The caller prints the one that decides the exit code.
				if first == nil || isUnsupported(first) && !isUnsupported(err) {
					first, err = err, first
				}
				if err != nil {
					report(s.err, err)
				}
			}
			return first
		},
	}
	c.Flags().IntVarP(&jobs, "jobs", "j", goruntime.GOMAXPROCS(0), "number of workers")
	return c
}

func validate(s streams, name string, jobs int) error {
	buf, err := readModule(s, name)
	if err != nil {
		return err
	}
	m, err := decode(buf, name)
	if err != nil {
		return err
	}
	return inFile(name, decoder.ValidateBodies(m, jobs))
}

func isUnsupported(err error) bool {
	var de *decoder.Error
	return errors.As(err, &de) && de.IsUnsupported()
}
