package main

import (
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// rewrite puts a command line into the form that cobra reads: the command
// first (run, if a file stands in its place), and flags in this program's
// spelling instead of V8's. Arguments of the guest are left alone.
func rewrite(root *cobra.Command, args []string) ([]string, error) {
	if len(args) == 0 {
		return args, nil
	}
	cmd, rest, err := hoist(root, args)
	if err != nil || cmd == nil {
		return args, err
	}
	out := []string{cmd.Name()}
	if sub, without := subcommand(cmd, rest); sub != nil {
		cmd, rest = sub, without
		out = append(out, sub.Name())
	}
	for i := 0; i < len(rest); i++ {
		arg := rest[i]
		if arg == "--" {
			return append(out, rest[i:]...), nil
		}
		if !isFlag(arg) {
			out = append(out, arg)
			// What follows the module belongs to the guest.
			if cmd.Name() == "run" {
				return append(out, rest[i+1:]...), nil
			}
			continue
		}
		words, err := translate(cmd.Flags(), arg)
		if err != nil {
			return nil, err
		}
		out = append(out, words...)
		if i+1 < len(rest) && len(words) > 0 && takesNext(cmd.Flags(), words[len(words)-1]) {
			i++
			out = append(out, rest[i])
		}
	}
	return out, nil
}

// isFlag tells flags from arguments; a lone dash is standard input.
func isFlag(arg string) bool { return len(arg) > 1 && arg[0] == '-' }

// hoist finds the command and takes it out of args. It returns nil where
// cobra's own commands and help apply.
func hoist(root *cobra.Command, args []string) (*cobra.Command, []string, error) {
	run := command(root, "run")
	for i := 0; i < len(args); i++ {
		arg := args[i]
		switch {
		case arg == "--help" || arg == "-h" || arg == "--version":
			if i == 0 {
				return nil, nil, nil
			}
			continue
		case arg == "--":
			return run, args, nil
		case isFlag(arg):
			// Before the command is known, run's flags say which take the
			// next word: they are the superset that may stand here.
			words, err := translate(run.Flags(), arg)
			if err == nil && len(words) > 0 && takesNext(run.Flags(), words[len(words)-1]) {
				i++
			}
			continue
		}
		if c := command(root, arg); c != nil {
			switch c.Name() {
			case "run", "compile", "validate", "bench":
				return c, append(append([]string(nil), args[:i]...), args[i+1:]...), nil
			}
			return nil, nil, nil
		}
		if cobraOwn(arg) {
			return nil, nil, nil
		}
		if err := mistyped(root, arg); err != nil {
			return nil, nil, err
		}
		return run, args, nil
	}
	// Flags only: run says that it needs a file.
	return run, args, nil
}

// subcommand finds a command below cmd, if the first word of args that is
// neither a flag nor a flag's value names one, and takes it out.
func subcommand(cmd *cobra.Command, args []string) (*cobra.Command, []string) {
	if !cmd.HasSubCommands() {
		return nil, nil
	}
	for i := 0; i < len(args); i++ {
		switch {
		case args[i] == "--":
			return nil, nil
		case isFlag(args[i]):
			words, err := translate(cmd.Flags(), args[i])
			if err == nil && len(words) > 0 && takesNext(cmd.Flags(), words[len(words)-1]) {
				i++
			}
			continue
		}
		if sub := command(cmd, args[i]); sub != nil {
			return sub, append(slices.Clone(args[:i]), args[i+1:]...)
		}
		return nil, nil
	}
	return nil, nil
}

// cobraOwn names the commands that cobra adds when it executes.
func cobraOwn(arg string) bool {
	return arg == "help" || arg == "completion" || strings.HasPrefix(arg, cobra.ShellCompRequestCmd)
}

func command(root *cobra.Command, name string) *cobra.Command {
	for _, c := range root.Commands() {
		if c.Name() == name || c.HasAlias(name) {
			return c
		}
	}
	return nil
}

// mistyped is an error if arg is neither a file nor looks like the name of
// one, but more like a command.
func mistyped(root *cobra.Command, arg string) error {
	if arg == "-" || strings.ContainsAny(arg, "./\\") {
		return nil
	}
	if _, err := os.Stat(arg); err == nil {
		return nil
	}
	names := []string{"help", "completion"}
	for _, c := range root.Commands() {
		if !c.Hidden {
			names = append(names, c.Name())
		}
	}
	if best := closest(arg, names); best != "" {
		return usagef("unknown command %q; did you mean %q?", arg, best)
	}
	return usagef("%q is neither a command nor a file; see wasmjit --help", arg)
}

// takesNext reports whether the flag word needs the next word as its value.
func takesNext(flags *pflag.FlagSet, word string) bool {
	if strings.Contains(word, "=") {
		return false
	}
	if name, ok := strings.CutPrefix(word, "--"); ok {
		f := flags.Lookup(name)
		return f != nil && f.NoOptDefVal == ""
	}
	// -j 4, but not -j4.
	f := flags.ShorthandLookup(word[1:2])
	return len(word) == 2 && f != nil && f.NoOptDefVal == ""
}
