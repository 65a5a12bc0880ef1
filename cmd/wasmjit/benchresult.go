package main

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	goruntime "runtime"
	"strings"
	"time"

	"github.com/wasmjit/wasmjit/internal/measure"
	"github.com/wasmjit/wasmjit/internal/samples"
	"github.com/wasmjit/wasmjit/internal/syscount"
)

// benchSchema is the version of the JSON form of bench. It grows when a field
// changes its meaning or goes; new fields don't change it.
const benchSchema = 1

// benchPhases are the phases in the order of the tables. engine is their sum
// without read and free.
var benchPhases = []string{"read", "decode", "compile", "link", "publish", "free", engineSum}

const engineSum = "engine"

// benchResult is what bench measured: every sample, so that it can serve as a
// baseline.
type benchResult struct {
	Schema     int          `json:"schema"`
	Version    string       `json:"wasmjit"`
	Time       time.Time    `json:"time"`
	Machine    machine      `json:"machine"`
	Benchmarks []*benchmark `json:"benchmarks"`
}

// machine says where samples come from.
type machine struct {
	OS   string `json:"goos"`
	Arch string `json:"goarch"`
	CPU  string `json:"cpu,omitempty"`
	CPUs int    `json:"cpus"`
	// Reference are times of a fixed load in ns, measured among the samples:
	// the speed of the machine, by which baselines are scaled.
	Reference []float64 `json:"reference_ns"`
}

// benchmark is one module compiled in one way.
type benchmark struct {
	Module    string `json:"module"`
	Bytes     int    `json:"bytes"`
	SHA256    string `json:"sha256"`
	CodeBytes int64  `json:"code_bytes"` // of the code section
	Process   string `json:"process"`    // fresh or same
	Workers   int    `json:"workers"`
	Mode      string `json:"write_protect_code_memory"`

	Phases       map[string]*series `json:"phases"`
	EmittedBytes int64              `json:"emitted_bytes"`
	Mprotects    []float64          `json:"mprotects_on_code"`
	Futexes      []float64          `json:"futexes,omitempty"` // where they could be counted
	PageFaults   []float64          `json:"page_faults"`
	GCCycles     []float64          `json:"gc_cycles"`
	RSSPeak      []float64          `json:"rss_peak,omitempty"` // of fresh processes

	subject subject
}

// series are the samples of a phase in ns.
type series struct {
	Wall []float64 `json:"wall_ns"`
	CPU  []float64 `json:"cpu_ns"`
}

func (b *benchmark) key() string {
	return fmt.Sprintf("module=%s/process=%s/workers=%d/protect=%s", benchName(b.Module), b.Process, b.Workers, b.Mode)
}

// benchName makes a module's name fit into the name of a Go benchmark.
func benchName(s string) string {
	return strings.Map(func(r rune) rune {
		if r <= ' ' || r == '/' || r == '=' || r > '~' {
			return '_'
		}
		return r
	}, s)
}

// engine gives the samples of wall time that verdicts are made of.
func (b *benchmark) engine() []float64 { return b.Phases[engineSum].Wall }

// add takes one sample over.
func (b *benchmark) add(s *stats) {
	if b.Phases == nil {
		b.Phases = map[string]*series{}
		b.Bytes, b.SHA256, b.CodeBytes = s.Module.Bytes, s.Module.SHA256, s.Module.CodeBytes
		b.Workers, b.Mode, b.EmittedBytes = s.Workers, s.Codemem.Mode, s.Code.Bytes
		for _, p := range benchPhases {
			b.Phases[p] = &series{}
		}
	}
	var faults, cycles int64
	for name, p := range s.Phases {
		if to := b.Phases[name]; to != nil {
			to.Wall = append(to.Wall, float64(p.WallNs))
			to.CPU = append(to.CPU, float64(p.CPUNs))
		}
		faults += p.MinorFaults + p.MajorFaults
		cycles += p.GCCycles
	}
	e := b.Phases[engineSum]
	e.Wall = append(e.Wall, float64(s.EngineWallNs))
	e.CPU = append(e.CPU, float64(s.EngineCPUNs))
	b.Mprotects = append(b.Mprotects, float64(s.Codemem.Mprotect))
	if s.Counters.Futex >= 0 {
		b.Futexes = append(b.Futexes, float64(s.Counters.Futex))
	}
	b.PageFaults = append(b.PageFaults, float64(faults))
	b.GCCycles = append(b.GCCycles, float64(cycles))
	if b.Process == freshProcess && s.RSSPeak > 0 {
		b.RSSPeak = append(b.RSSPeak, float64(s.RSSPeak))
	}
}

func (r *benchResult) writeJSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", " ")
	return e.Encode(r)
}

// readBenchResult reads a baseline.
func readBenchResult(path string) (*benchResult, error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, inFile(path, err)
	}
	var r benchResult
	if err := json.Unmarshal(b, &r); err != nil {
		return nil, inFile(path, fmt.Errorf("not the JSON of wasmjit bench: %w", err))
	}
	if r.Schema != benchSchema {
		return nil, inFile(path, fmt.Errorf("schema %d of wasmjit bench, this is version %d", r.Schema, benchSchema))
	}
	if len(r.Machine.Reference) == 0 || len(r.Benchmarks) == 0 {
		return nil, inFile(path, fmt.Errorf("no samples in it"))
	}
	for _, b := range r.Benchmarks {
		if b == nil || b.Phases[engineSum] == nil || len(b.engine()) == 0 {
			return nil, inFile(path, fmt.Errorf("a benchmark without samples of the engine"))
		}
	}
	return &r, nil
}

func thisMachine() machine {
	return machine{OS: goruntime.GOOS, Arch: goruntime.GOARCH, CPU: measure.CPU(), CPUs: goruntime.NumCPU()}
}

// reference measures the reference load: arithmetic and memory, on one thread.
func (m *machine) reference() {
	start := time.Now()
	buf := make([]uint64, 1<<19)
	x := uint64(88172645463325252)
	for range 2 {
		for i := range buf {
			x ^= x << 13
			x ^= x >> 7
			x ^= x << 17
			buf[i] = x
		}
		for range buf {
			x = buf[x%uint64(len(buf))] + x
		}
	}
	goruntime.KeepAlive(x) // and with it all that led there
	m.Reference = append(m.Reference, float64(time.Since(start)))
}

// speed is the time of the reference load on an undisturbed machine in ns.
func (m *machine) speed() float64 { return samples.Min(m.Reference) }

// counted is the median of counts for a table, n/a for none.
func counted(x []float64) string {
	if len(x) == 0 {
		return "n/a"
	}
	return thousands(int64(math.Round(samples.Median(x))))
}

// countersFlag is what children get for --syscall-counters: with auto, futex
// calls are counted only if tracepoints can do it, since a trap would slow the
// samples. why says what stands in the way.
func countersFlag(value string) (child, why string) {
	if value != "auto" {
		return value, ""
	}
	if err := syscount.Hold(syscount.Futex, syscount.Mprotect); err != nil {
		return "off", oneLine(err.Error())
	}
	return value, ""
}
