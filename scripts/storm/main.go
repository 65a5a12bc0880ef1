// Command storm reproduces the storm of mprotects that V8 9.2 has with
// --wasm-write-protect-code-memory, its fix in 9.3, and what wasmjit's modes
// cost beside both, by turns in one run. Every sample is a process of its own.
// scripts/perf-storm.sh gets the engines and calls it.
package main

import (
	_ "embed"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/wasmjit/wasmjit/internal/measure"
)

//go:embed v8.js
var v8Script []byte

type options struct {
	corpus, wasmjit, nodes string
	modules, workers       string
	slope                  string
	samples, v8Samples     int
	timeout, once, budget  time.Duration
	json, insert           string
	verbose                bool
}

func main() {
	var o options
	flag.StringVar(&o.corpus, "corpus", ".cache/corpus", "folder of the modules")
	flag.StringVar(&o.wasmjit, "wasmjit", "bin/wasmjit", "the command to measure")
	flag.StringVar(&o.nodes, "nodes", "", "node programs of several versions, with commas; none: no V8")
	flag.StringVar(&o.modules, "modules", "unity-rooftop2,esbuild", "names of modules, with commas; the last one is compared with strace and perf, too")
	flag.StringVar(&o.workers, "workers", "1,2,4,8,16", "numbers of workers, with commas")
	flag.StringVar(&o.slope, "slope", "10000,50000,200000", "sizes in functions of the generated modules for the slope of futexes; -: none")
	flag.IntVar(&o.samples, "samples", 9, "samples of each wasmjit cell")
	flag.IntVar(&o.v8Samples, "v8-samples", 2, "samples of each V8 cell")
	flag.DurationVar(&o.timeout, "timeout", time.Minute, "end a compile by V8 that has not ended by then; wasmjit gets four times as long")
	flag.DurationVar(&o.once, "once", 2*time.Second, "a cell whose first sample takes longer gets no second")
	flag.DurationVar(&o.budget, "budget", 11*time.Minute, "start no further round after this time")
	flag.StringVar(&o.json, "json", "", "write every sample to this file")
	flag.StringVar(&o.insert, "insert", "", "also put the tables into this file, between the lines "+beginMark+" and "+endMark)
	flag.BoolVar(&o.verbose, "v", false, "a line per sample on stderr")
	flag.Parse()
	if err := run(&o, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "storm:", err)
		os.Exit(1)
	}
}

// report is all that was measured, as it stands in the JSON.
type report struct {
	Schema  int               `json:"schema"`
	Machine measure.Machine   `json:"machine"`
	Engines map[string]string `json:"engines"`
	Workers []int             `json:"workers"`
	Samples int               `json:"samples"`
	Modules []*module         `json:"modules"`
	Agree   []agreement       `json:"agreement"`
	Faults  faultCost         `json:"fault_cost"`
	Slope   []*slopeCell      `json:"slope"`
	Missing []string          `json:"missing"`
	Seconds float64           `json:"seconds"`
}

func run(o *options, out io.Writer) error {
	start := time.Now()
	workers, err := numbers(o.workers)
	if err != nil {
		return fmt.Errorf("-workers: %w", err)
	}
	if o.samples < 1 || o.v8Samples < 1 {
		return errors.New("-samples and -v8-samples must be 1 or more")
	}
	names := strings.Split(o.modules, ",")
	for _, name := range names {
		if _, err := os.Stat(file(o, name)); err != nil {
			return fmt.Errorf("%w: make corpus gets it", err)
		}
	}
	dir, err := os.MkdirTemp("", "storm")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	t, err := newTools(o, dir)
	if err != nil {
		return err
	}
	defer t.close()
	r := &report{Schema: 1, Machine: measure.Describe(), Engines: t.versions(), Workers: workers, Samples: o.samples}
	r.Missing = append(r.Missing, t.missing...)
	if r.Faults, err = measureFaults(); err != nil {
		return err
	}
	if err := r.agreement(o, t, names[len(names)-1]); err != nil {
		return err
	}
	if err := r.slope(o, t); err != nil {
		return err
	}
	if err := r.compiles(o, t, names, start.Add(o.budget)); err != nil {
		return err
	}
	r.Machine.Done()
	r.Seconds = time.Since(start).Seconds()
	if err := measure.Save(o.json, r); err != nil {
		return err
	}
	text := r.markdown()
	if o.insert != "" {
		if err := insert(o.insert, text); err != nil {
			return err
		}
	}
	_, err = io.WriteString(out, text)
	return err
}

// numbers reads a list of positive numbers with commas.
func numbers(list string) ([]int, error) {
	var v []int
	for s := range strings.SplitSeq(list, ",") {
		n, err := strconv.Atoi(s)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("%q is no list of positive numbers", list)
		}
		v = append(v, n)
	}
	return v, nil
}

// have reports whether a command can be found.
func have(name string) bool {
	_, err := exec.LookPath(name)
	return err == nil
}
