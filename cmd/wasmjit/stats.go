package main

import (
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io"
	goruntime "runtime"
	"slices"
	"time"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
	"github.com/wasmjit/wasmjit/nativemodule"
)

// statsSchema is the version of the JSON form. It grows when a field changes
// its meaning or goes; new fields don't change it.
const statsSchema = 1

// stats is what a compile cost. Numbers that this system can't tell are left
// out; none is an estimate.
type stats struct {
	Schema  int    `json:"schema"`
	Version string `json:"wasmjit"`
	Module  struct {
		Path      string `json:"path"`
		Bytes     int    `json:"bytes"`
		SHA256    string `json:"sha256"`
		Functions int    `json:"functions"`
		Imports   int    `json:"imported_functions"`
		CodeBytes int64  `json:"code_bytes"` // of the code section
	} `json:"module"`
	Target  string `json:"target"`
	Options struct {
		LiftoffOnly bool   `json:"liftoff_only"`
		Bounds      string `json:"bounds"`
		CPU         string `json:"cpu"`
		Protection  string `json:"write_protect_code_memory"`
		Publish     string `json:"publish"`
	} `json:"options"`
	Workers int             `json:"workers"`
	Phases  map[string]step `json:"phases"`
	// Counters says how the kernel's part of the phases was counted.
	Counters counterStats `json:"syscall_counters"`
	// Engine is all phases but read, run and free; MB are 10^6 bytes of code
	// section.
	EngineWallNs  int64   `json:"engine_wall_ns"`
	EngineCPUNs   int64   `json:"engine_cpu_ns"`
	EngineMBPerS  float64 `json:"engine_mb_per_s"`
	CompileMBPerS float64 `json:"compile_mb_per_s"`
	// The same by processor time: what one worker alone on its processor
	// would reach, which a loaded machine changes less.
	EngineMBPerCPUS  float64 `json:"engine_mb_per_cpu_s"`
	CompileMBPerCPUS float64 `json:"compile_mb_per_cpu_s"`
	Code             struct {
		Bytes       int64   `json:"bytes"`
		Padding     int64   `json:"padding"`
		PerWasmByte float64 `json:"per_wasm_byte"` // code bytes per byte of function bodies
		BodyBytes   int64   `json:"body_bytes"`
		CallSites   int64   `json:"call_sites"`
		Sizes       sizes   `json:"function_sizes"`
	} `json:"code"`
	Codemem struct {
		Mode      string `json:"mode"`
		Chunks    int64  `json:"chunks"`
		Spans     int    `json:"spans"`
		Mmap      int64  `json:"mmap"`
		Munmap    int64  `json:"munmap"`
		Madvise   int64  `json:"madvise"`
		Mprotect  int64  `json:"mprotect"`
		ToRW      int64  `json:"mprotect_to_rw"`
		ToRX      int64  `json:"mprotect_to_rx"`
		Protected int64  `json:"bytes_reprotected"`
		SyscallNs int64  `json:"syscall_ns"`
	} `json:"codemem"`
	Protection protection `json:"protection"`
	Go         struct {
		HeapBytes uint64 `json:"heap_bytes"` // from the system, now
		Allocs    uint64 `json:"allocs"`
		GCCycles  uint32 `json:"gc_cycles"`
		GCPauseNs uint64 `json:"gc_pause_ns"`
	} `json:"go"`
	RSSPeak int64 `json:"rss_peak,omitempty"`
	// Ledger sets the mprotects on code beside those that the mode needs.
	Ledger ledgerStats `json:"ledger"`

	order []step
	file  []byte
	locks map[string]lockTrips // by phase
	// elsewhere says under which phase the rest of overlapping work stands.
	elsewhere string
}

// sizes is a distribution of code sizes in bytes.
type sizes struct {
	P50 int `json:"p50"`
	P90 int `json:"p90"`
	P99 int `json:"p99"`
	Max int `json:"max"`
}

// gather collects the statistics of a finished compile, but for the phases.
func gather(name string, m *decoder.Module, code *nativemodule.Module) *stats {
	n, o := code.Stats(), code.Options()
	s := &stats{Schema: statsSchema, Version: version, Workers: n.Workers, file: m.Bytes}
	s.RSSPeak = peakRSS()

	s.Module.Path = name
	s.Module.Bytes = len(m.Bytes)
	s.Module.Functions = n.Functions
	s.Module.Imports = int(m.NumImportedFuncs)
	s.Module.CodeBytes = int64(m.CodeEnd - m.CodeStart)

	s.Target = "linux/" + archName(o.Liftoff.Arch)
	s.Options.LiftoffOnly = true
	s.Options.Bounds = map[liftoff.Bounds]string{liftoff.BoundsGuard: "guard", liftoff.BoundsExplicit: "explicit"}[o.Liftoff.Bounds]
	s.Options.CPU = cpuName(o.Liftoff.CPU)
	s.Options.Protection = o.Protection.String()

	s.Code.Bytes, s.Code.Padding, s.Code.BodyBytes = n.CodeBytes, n.PaddingBytes, n.BodyBytes
	s.Code.CallSites = n.CallSites
	if n.BodyBytes > 0 {
		s.Code.PerWasmByte = round(float64(n.CodeBytes) / float64(n.BodyBytes))
	}
	s.Code.Sizes = functionSizes(m, code)
	s.Ledger = newLedger(n, o.Publish)
	s.Options.Publish = o.Publish.String()
	s.Codemem.Mode, s.Codemem.Chunks, s.Codemem.Spans = o.Protection.String(), n.Chunks, n.Spans

	s.Protection = newProtection(n)
	s.locks = map[string]lockTrips{
		"compile": addLocks(n.Compile.Locks),
		"link":    addLocks(n.Link.Locks),
		"publish": addLocks(n.Publish.Locks),
	}

	return s
}

// readGo asks Go for its figures. It stops the world to give them.
func (s *stats) readGo() {
	var ms goruntime.MemStats
	goruntime.ReadMemStats(&ms)
	s.Go.HeapBytes, s.Go.Allocs = ms.HeapSys, ms.Mallocs
	s.Go.GCCycles, s.Go.GCPauseNs = ms.NumGC, ms.PauseTotalNs
}

// addSteps adds the phases.
func (s *stats) addSteps(m *meter) {
	s.order = m.steps
	s.Phases = map[string]step{}
	s.Counters = m.counters()
	s.elsewhere = ", the rest under compile: --syscall-counters=perf tells that apart by thread, too."
	if m.byThread {
		s.elsewhere = ", as does the rest of what these threads did."
	}
	var calls codemem.Counters
	for i := range s.order {
		s.order[i].Locks = s.locks[s.order[i].Name]
		p := s.order[i]
		s.Phases[p.Name] = p
		calls = calls.Add(p.Codemem.Counters)
		if p.Name != "read" && p.Name != "run" && p.Name != "free" {
			s.EngineWallNs += p.WallNs
			s.EngineCPUNs += p.CPUNs
		}
	}
	compile := s.Phases["compile"]
	s.EngineMBPerS = mbPerS(s.Module.CodeBytes, s.EngineWallNs)
	s.CompileMBPerS = mbPerS(s.Module.CodeBytes, compile.WallNs)
	s.EngineMBPerCPUS = mbPerS(s.Module.CodeBytes, s.EngineCPUNs)
	s.CompileMBPerCPUS = mbPerS(s.Module.CodeBytes, compile.CPUNs)

	c := &s.Codemem
	c.Mmap, c.Munmap, c.Madvise = calls.Mmap.Calls, calls.Munmap.Calls, calls.Madvise.Calls
	c.Mprotect, c.ToRW, c.ToRX = calls.OnCode(), calls.MprotectRW.Calls, calls.MprotectRX.Calls
	c.Protected = calls.MprotectRW.Bytes + calls.MprotectRX.Bytes + calls.MprotectOther.Bytes
	c.SyscallNs = calls.All().Ns
}

func functionSizes(m *decoder.Module, code *nativemodule.Module) sizes {
	all := make([]int, len(m.Bodies))
	for i := range all {
		all[i] = code.Size(m.NumImportedFuncs + uint32(i))
	}
	if len(all) == 0 {
		return sizes{}
	}
	slices.Sort(all)
	at := func(percent int) int { return all[len(all)*percent/100] }
	return sizes{at(50), at(90), at(99), all[len(all)-1]}
}

// writeJSON prints the statistics, with some that only it has.
func (s *stats) writeJSON(w io.Writer) error {
	s.readGo()
	sum := sha256.Sum256(s.file)
	s.Module.SHA256 = hex.EncodeToString(sum[:])
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(s)
}

// mbPerS is a throughput in 10^6 bytes per second, 0 if no time passed.
func mbPerS(bytes, ns int64) float64 {
	if ns <= 0 {
		return 0
	}
	return round(float64(bytes) / 1e6 / time.Duration(ns).Seconds())
}

// round keeps three decimals.
func round(v float64) float64 { return float64(int64(v*1000+0.5)) / 1000 }

func archName(a liftoff.Arch) string {
	if a == liftoff.ARM64 {
		return "arm64"
	}
	return "amd64"
}

// cpuName lists the extensions that the code may use.
func cpuName(c liftoff.CPU) string {
	name := "baseline"
	for _, x := range []struct {
		on   bool
		name string
	}{{c.Popcnt, "popcnt"}, {c.Lzcnt, "lzcnt"}, {c.BMI1, "bmi1"}, {c.BMI2, "bmi2"}} {
		if x.on {
			name += "+" + x.name
		}
	}
	return name
}
