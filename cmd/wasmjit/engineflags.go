package main

import (
	goruntime "runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/liftoff"
	"github.com/wasmjit/wasmjit/nativemodule"
)

// engineFlags are the flags of every command that compiles.
type engineFlags struct {
	jobs        int
	liftoffOnly bool
	bounds      string
	cpu         string
	protection  string
	publish     string
	maxCodeMB   int
	traceTimes  bool
	printCode   int64
	progress    string

	live bool // not a flag: the code will be replaced
}

func (f *engineFlags) register(c *cobra.Command, bounds string) {
	fs := c.Flags()
	fs.IntVarP(&f.jobs, "jobs", "j", goruntime.GOMAXPROCS(0), "number of compile workers")
	fs.BoolVar(&f.liftoffOnly, "liftoff-only", true,
		"compile every function ahead with Liftoff, and fail if one can't be; there is no other way yet")
	fs.StringVar(&f.bounds, "bounds", bounds, "how memory accesses are checked: "+boundsValues(bounds))
	fs.StringVar(&f.cpu, "cpu", "native", "instructions that code may use: native or baseline (x86-64 with SSE4.1)")
	fs.StringVar(&f.protection, "write-protect-code-memory", "auto", protectionValues)
	fs.Lookup("write-protect-code-memory").NoOptDefVal = "hoisted"
	fs.StringVar(&f.publish, "publish", "auto", publishValues)
	fs.IntVar(&f.maxCodeMB, "max-code-mb", 0, "fail if the code takes more than this many MiB (0: as much as there is room)")
	fs.StringVar(&f.progress, "progress", "auto", "progress bar on stderr: auto, always or never")
}

// registerPrints adds the flags of the commands that compile once, which may
// print functions.
func (f *engineFlags) registerPrints(c *cobra.Command) {
	fs := c.Flags()
	fs.BoolVar(&f.traceTimes, "trace-wasm-compilation-times", false, "a line per function on stderr")
	fs.Int64Var(&f.printCode, "print-wasm-code-function-index", -1, "disassemble the function with this index")
}

const protectionValues = `how code is protected against writes:
seal     writable, then executable for good
dual     two views of the same pages, one writable, one executable
hoisted  V8 9.3's scopes: all code switches twice for each batch
         that is added and each that is published
fine     V8 9.2's scopes: all code switches twice for each function
pku      memory protection keys: only the writing thread may write;
         the page tables say writable and executable
off      writable and executable at once
auto     seal for code that stays, dual for code that is patched
The flag alone means hoisted.`

const publishValues = `how functions find one another: linked (calls are resolved once),
slots (every call goes through a jump table, which fine and
hoisted need), or auto`

func boundsValues(def string) string {
	if def == "auto" {
		return "guard (guard pages), explicit, or auto (guard where the address space allows)"
	}
	return "guard (guard pages) or explicit"
}

// check reports values that no flag type catches.
func (f *engineFlags) check() error {
	if f.jobs < 1 {
		return usagef("--jobs must be at least 1, not %d", f.jobs)
	}
	if !f.liftoffOnly {
		return usagef("--liftoff-only=false: there is no other way to compile yet")
	}
	if f.maxCodeMB < 0 {
		return usagef("--max-code-mb must not be negative")
	}
	if f.printCode < -1 || f.printCode > 1<<32-1 {
		return usagef("--print-wasm-code-function-index must be a function index, not %d", f.printCode)
	}
	switch f.progress {
	case "auto", "always", "never":
	default:
		return usagef("--progress must be auto, always or never, not %q", f.progress)
	}
	return nil
}

// options turns the flags into the engine's options, for code that checks
// memory accesses as bounds says.
func (f *engineFlags) options(arch liftoff.Arch, bounds liftoff.Bounds) (nativemodule.Options, error) {
	var o nativemodule.Options
	if err := f.check(); err != nil {
		return o, err
	}
	mode, err := codemem.ParseMode(f.protection)
	if err != nil {
		return o, usagef("--write-protect-code-memory: %v", err)
	}
	publish, err := nativemodule.ParsePublish(f.publish)
	if err != nil {
		return o, usagef("--publish: %v", err)
	}
	cpu, err := parseCPU(f.cpu, arch)
	if err != nil {
		return o, err
	}
	o.Liftoff = liftoff.Options{Arch: arch, CPU: cpu, Bounds: bounds}
	o.Workers = f.jobs
	o.Protection = mode
	o.Publish = publish
	o.Live = f.live
	o.MaxCodeBytes = int64(f.maxCodeMB) << 20
	if err := o.Check(); err != nil {
		return o, usagef("--write-protect-code-memory, --publish: %v", err)
	}
	return o, nil
}

func parseBounds(s string) (liftoff.Bounds, error) {
	switch s {
	case "guard":
		return liftoff.BoundsGuard, nil
	case "explicit":
		return liftoff.BoundsExplicit, nil
	}
	return 0, usagef("--bounds must be guard or explicit, not %q", s)
}

func parseCPU(s string, arch liftoff.Arch) (liftoff.CPU, error) {
	switch s {
	case "baseline":
		return liftoff.CPU{}, nil
	case "native":
		if arch != hostArch() {
			// Code for another machine can't depend on this one.
			return liftoff.CPU{}, nil
		}
		return liftoff.HostCPU(), nil
	}
	return liftoff.CPU{}, usagef("--cpu must be native or baseline, not %q", s)
}

func hostArch() liftoff.Arch {
	if goruntime.GOARCH == "arm64" {
		return liftoff.ARM64
	}
	return liftoff.AMD64
}

// parseTarget reads OS/ARCH or OS-ARCH.
func parseTarget(s string) (liftoff.Arch, error) {
	if s == "" {
		return hostArch(), nil
	}
	system, arch, _ := strings.Cut(strings.ReplaceAll(s, "-", "/"), "/")
	switch {
	case system == "linux" && arch == "amd64":
		return liftoff.AMD64, nil
	case system == "linux" && arch == "arm64":
		return liftoff.ARM64, nil
	}
	return 0, usagef("--target must be linux/amd64 or linux/arm64, not %q", s)
}
