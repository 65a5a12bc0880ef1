// Command benchpeers measures wasmjit beside the engines that compile alike,
// by turns in one run: V8's Liftoff, SpiderMonkey's baseline compiler and
// wazero. Every measurement is a process of its own. scripts/bench-peers.sh
// gets the engines and calls it; it is a module of its own, so that wazero
// stays out of wasmjit's dependencies.
package main

import (
	_ "embed"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"runtime/debug"
	"strings"

	"github.com/wasmjit/wasmjit/internal/measure"
)

var (
	//go:embed v8.js
	v8Script []byte
	//go:embed spidermonkey.js
	smScript []byte
)

type options struct {
	root, corpus, goModules string
	modules, programs       string
	rounds                  int
	wazeroMB                float64
	json                    string
}

func main() {
	if len(os.Args) > 1 && os.Args[1] == "child" {
		if err := child(os.Args[2:]); err != nil {
			fmt.Fprintln(os.Stderr, "benchpeers:", err)
			os.Exit(1)
		}
		return
	}
	var o options
	var t tools
	flag.StringVar(&o.root, "root", ".", "the repository")
	flag.StringVar(&o.corpus, "corpus", ".cache/corpus", "folder of the modules to compile")
	flag.StringVar(&o.goModules, "go-modules", ".cache/run", "folder of the run set's Go modules")
	flag.StringVar(&o.modules, "modules", "", "names of modules to compile, with commas; none: all that are there; -: no compiles")
	flag.StringVar(&o.programs, "programs", "", "names of programs to run, with commas; none: all; -: no runs")
	flag.IntVar(&o.rounds, "rounds", 3, "measurements of each kind")
	flag.Float64Var(&o.wazeroMB, "wazero-max-mb", 1, "give wazero only modules up to this many MB of code section; it needs seconds for each")
	flag.StringVar(&o.json, "json", "", "write every sample to this file")
	flag.StringVar(&t.wasmjit, "wasmjit", "bin/wasmjit", "the command to measure")
	flag.StringVar(&t.node, "node", "", "node with V8 14.6; none: V8 is missing")
	flag.StringVar(&t.js, "js", "", "SpiderMonkey's shell; none: it is missing")
	flag.Parse()
	if err := run(&o, &t); err != nil {
		fmt.Fprintln(os.Stderr, "benchpeers:", err)
		os.Exit(1)
	}
}

func run(o *options, t *tools) error {
	if o.rounds < 1 {
		return fmt.Errorf("-rounds must be 1 or more, not %d", o.rounds)
	}
	var err error
	if t.self, err = os.Executable(); err != nil {
		return err
	}
	if _, err := exec.LookPath(t.wasmjit); err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "benchpeers")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	if err := t.scripts(dir); err != nil {
		return err
	}
	r := &report{Schema: 1, Machine: measure.Describe(), Engines: t.versions(), Rounds: o.rounds}
	if err := r.compiles(o, t); err != nil {
		return err
	}
	if err := r.runs(o, t); err != nil {
		return err
	}
	r.Machine.Done()
	if err := measure.Save(o.json, r); err != nil {
		return err
	}
	return r.markdown(os.Stdout)
}

func wazeroVersion() string {
	if info, ok := debug.ReadBuildInfo(); ok {
		for _, d := range info.Deps {
			if d.Path == "github.com/tetratelabs/wazero" {
				return d.Version
			}
		}
	}
	return "unknown"
}

// workers turns a number of threads into wasmjit's and wazero's.
func workers(threads int) int {
	if threads == 0 {
		return runtime.NumCPU()
	}
	return threads
}

// picked reports whether a list of names with commas holds name; an empty one
// holds all, "-" none.
func picked(list, name string) bool {
	if list == "" {
		return true
	}
	for n := range strings.SplitSeq(list, ",") {
		if n == name {
			return true
		}
	}
	return false
}

func exists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}
