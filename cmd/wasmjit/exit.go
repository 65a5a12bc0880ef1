package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strconv"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/runtime"
	"github.com/wasmjit/wasmjit/wasi"
)

// Exit codes. 124 is timeout(1)'s, 134 is 128 + SIGABRT as in wasmtime.
const (
	exitOK          = 0
	exitError       = 1
	exitUsage       = 2
	exitUnsupported = 3
	exitRegression  = 4
	exitTimeout     = 124
	exitTrap        = 134
)

// usageError is a mistake on the command line.
type usageError struct{ msg string }

func (e *usageError) Error() string { return e.msg }

func usagef(format string, args ...any) error {
	return &usageError{fmt.Sprintf(format, args...)}
}

// fileError is an error with the name of the file it is about.
type fileError struct {
	name string
	err  error
}

func (e *fileError) Error() string { return displayName(e.name) + ": " + e.err.Error() }
func (e *fileError) Unwrap() error { return e.err }

// inFile names the file in an error. An error of the file system loses its
// operation and path, which would only repeat the name.
func inFile(name string, err error) error {
	if err == nil {
		return nil
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	return &fileError{name, err}
}

// displayName keeps a message on one line whatever the file is called.
func displayName(name string) string {
	if name == "-" {
		return "stdin"
	}
	if q := strconv.Quote(name); q[1:len(q)-1] != name {
		return q
	}
	return name
}

// report prints err, if it is one to print, and returns the exit code.
func report(w io.Writer, err error) int {
	if err == nil {
		return exitOK
	}
	var exit *wasi.ExitError
	if errors.As(err, &exit) {
		return int(exit.Code & 0xff)
	}
	printf(w, "wasmjit: %s\n", oneLine(err.Error()))
	var (
		usage  *usageError
		invald *decoder.Error
		trap   *runtime.Trap
	)
	switch {
	case errors.As(err, &usage):
		return exitUsage
	case errors.Is(err, errRegression):
		return exitRegression
	case errors.Is(err, context.DeadlineExceeded):
		return exitTimeout
	case errors.As(err, &trap):
		backtrace(w, trap)
		return exitTrap
	case errors.As(err, &invald) && invald.IsUnsupported(), errors.Is(err, errUnsupported):
		return exitUnsupported
	}
	return exitError
}

// errUnsupported marks what this version can't do yet, apart from modules'
// features, which the decoder reports.
var errUnsupported = errors.New("not supported yet")

// oneLine replaces line breaks; messages may quote names from modules.
func oneLine(s string) string {
	return strings.NewReplacer("\r", " ", "\n", " ").Replace(strings.TrimSpace(s))
}

// flagError turns pflag's errors into one line with a suggestion.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return &usageError{err.Error()}
	}
	name := unknown.GetSpecifiedName()
	if len(name) == 1 {
		return usagef("unknown flag -%s; see %s --help", name, c.CommandPath())
	}
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) {
		if !f.Hidden {
			names = append(names, f.Name)
		}
	})
	best := closest(name, names)
	if best == "" {
		return usagef("unknown flag --%s; see %s --help", name, c.CommandPath())
	}
	return usagef("unknown flag --%s; did you mean --%s?", name, best)
}

// closest is the candidate with the smallest edit distance, "" if all are
// too far away to be meant.
func closest(name string, candidates []string) string {
	best, least := "", max(2, len(name)/3)+1
	for _, c := range candidates {
		if d := distance(name, c); d < least {
			best, least = c, d
		}
	}
	return best
}

// distance is Levenshtein's.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diag := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			diag, row[j+1] = row[j+1], min(row[j+1]+1, row[j]+1, diag+cost)
		}
	}
	return row[len(b)]
}
