package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// subject is a module to measure.
type subject struct {
	name string
	path string   // what a child process opens
	file *os.File // given to the child if path is of its own descriptors
}

// inherited is the path of the first file that a child inherits besides the
// standard streams.
const inherited = "/dev/fd/3"

// openSubjects finds the modules that the arguments name; - is standard input.
// Without any it has the synthetic one made.
func openSubjects(s streams, args []string, synthetic string) ([]subject, error) {
	if len(args) == 0 {
		file, err := synthesize(synthetic, s)
		if err != nil {
			return nil, err
		}
		return []subject{{"synthetic-" + strings.ReplaceAll(synthetic, ":", "-"), inherited, file}}, nil
	}
	var all []subject
	for _, arg := range args {
		if arg == "-" {
			file, err := scratchFile("wasmjit-stdin")
			if err == nil {
				_, err = io.Copy(file, s.in)
			}
			if err != nil {
				return nil, inFile(arg, err)
			}
			all = append(all, subject{"stdin", inherited, file})
			continue
		}
		path, err := filepath.Abs(arg)
		if err == nil {
			_, err = os.Stat(path)
		}
		if err != nil {
			return nil, inFile(arg, err)
		}
		base := filepath.Base(arg)
		all = append(all, subject{strings.TrimSuffix(base, filepath.Ext(base)), path, nil})
	}
	return all, nil
}

func closeSubjects(all []subject) {
	for i := range all {
		if all[i].file != nil {
			_ = all[i].file.Close()
		}
	}
}

// engineArgs repeats the flags of the engine that the user has set, for a
// child process.
func engineArgs(c *cobra.Command) []string {
	own := &cobra.Command{}
	new(engineFlags).register(own, "guard")
	var args []string
	c.Flags().Visit(func(f *pflag.Flag) {
		if own.Flags().Lookup(f.Name) != nil && f.Name != "progress" {
			args = append(args, "--"+f.Name+"="+f.Value.String())
		}
	})
	return args
}

// compileOnce compiles a module n times in one fresh process and gives the
// statistics of each time.
func compileOnce(sub subject, n int, args ...string) ([]stats, error) {
	self, err := os.Executable()
	if err != nil {
		return nil, err
	}
	all := append([]string{"compile", "--stats=json", "--progress=never", fmt.Sprintf("--repeat=%d", n)}, args...)
	c := exec.Command(self, append(all, "--", sub.path)...)
	if sub.file != nil {
		c.ExtraFiles = []*os.File{sub.file}
	}
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		return nil, childError(sub, err, errs.String())
	}
	samples := make([]stats, n)
	d := json.NewDecoder(&out)
	for i := range samples {
		if err := d.Decode(&samples[i]); err != nil {
			return nil, inFile(sub.name, fmt.Errorf("statistics of a child process: %w", err))
		}
	}
	return samples, nil
}

// childError says what a failed child said, under the name of the module. Its
// exit code tells invalid and unsupported modules from the rest.
func childError(sub subject, err error, said string) error {
	said = strings.TrimPrefix(strings.TrimSpace(said), "wasmjit: ")
	if said == "" {
		said = err.Error()
	}
	said = strings.TrimPrefix(said, displayName(sub.path)+": ")
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		switch exit.ExitCode() {
		case exitUsage:
			return &usageError{said}
		case exitUnsupported:
			return inFile(sub.name, &childUnsupported{said})
		}
	}
	return inFile(sub.name, errors.New(said))
}

// childUnsupported is errUnsupported with a message of its own.
type childUnsupported struct{ msg string }

func (e *childUnsupported) Error() string { return e.msg }
func (e *childUnsupported) Unwrap() error { return errUnsupported }
