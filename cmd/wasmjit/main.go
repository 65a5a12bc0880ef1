// Command wasmjit compiles and runs WebAssembly modules with a single-pass
// baseline compiler.
//
// Each file of this package holds one command or one thing that commands
// share. The commands read flags, call the engine's packages and print what
// came out; nothing is decided here about modules or code.
package main

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"
)

// version is the release, set by -ldflags=-X main.version=...; a build from a
// checkout reports its commit instead, see version.go.
var version = "devel"

// streams are the standard streams, so that tests can replace them.
type streams struct {
	in       *os.File
	out, err io.Writer
}

func main() {
	os.Exit(execute(os.Args[1:], streams{os.Stdin, os.Stdout, os.Stderr}))
}

// execute runs one command line and returns the exit code.
func execute(args []string, s streams) int {
	root := newRoot(s)
	args, err := rewrite(root, args)
	if err == nil {
		root.SetArgs(args)
		err = root.ExecuteContext(context.Background())
	}
	return report(s.err, err)
}

func newRoot(s streams) *cobra.Command {
	root := &cobra.Command{
		Use:   "wasmjit",
		Short: "Compile and run WebAssembly modules with a baseline compiler",
		Long: `wasmjit compiles WebAssembly modules with a single-pass baseline compiler,
shows what that cost, and runs them.

Without a command it runs the file: wasmjit FILE [ARGS...].
Flags are accepted in V8's spelling too: --wasm_num_compilation_tasks=2 is
--jobs=2, --no-x is --x=false.

Exit codes: 0 success, or what the guest gave to proc_exit, modulo 256;
1 invalid module or host error; 2 usage; 3 unsupported feature;
4 slower than the baseline (bench --fail-above); 124 timeout; 134 trap.`,
		Example: `  wasmjit compile --synthetic unity
  wasmjit compile -j1 --stats=json game.wasm
  wasmjit program.wasm --flag-of-the-program
  wasmjit run --dir=. program.wasm`,
		SilenceErrors: true,
		SilenceUsage:  true,
		Args: func(_ *cobra.Command, args []string) error {
			return nil
		},
		RunE: func(c *cobra.Command, _ []string) error { return c.Help() },
	}
	root.SetOut(s.out)
	root.SetErr(s.err)
	root.SetIn(s.in)
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveDefault)
	root.AddCommand(newCompile(s), newRun(s), newValidate(s), newBench(s), newVersion(s), newDoctor(s), newSynthesize(s))
	return root
}

// exactArgs is cobra.ExactArgs with a usage error that says what is missing.
func exactArgs(n int, what string) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		switch {
		case len(args) < n:
			return usagef("%s needs %s; see %s --help", c.Name(), what, c.CommandPath())
		case len(args) > n:
			return usagef("%s takes only %s, and %q is one too many", c.Name(), what, args[n])
		}
		return nil
	}
}

func printf(w io.Writer, format string, args ...any) {
	// A closed terminal or pipe is no error worth another message.
	_, _ = fmt.Fprintf(w, format, args...)
}
