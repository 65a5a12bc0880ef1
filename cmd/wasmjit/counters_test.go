package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/internal/synth"
)

// phaseNames are the phases of a compile in JSON.
var phaseNames = []string{"compile", "decode", "free", "link", "publish", "read"}

// compileJSON compiles the small module below the command, if any, and gives
// the statistics and what was written to stderr.
func compileJSON(t *testing.T, below []string, args ...string) (stats, string) {
	t.Helper()
	path := writeFile(t, "small.wasm", synth.Module(small))
	c := program(t, nil, append([]string{"compile", "--stats=json", path}, args...)...)
	if len(below) > 0 {
		bin, err := exec.LookPath(below[0])
		if err != nil {
			t.Skip(below[0] + " is not installed")
		}
		c.Args = append(append(slices.Clone(below), c.Path), c.Args[1:]...)
		c.Path = bin
	}
	r := finish(t, c)
	var s stats
	if err := json.Unmarshal([]byte(r.out), &s); err != nil {
		t.Skipf("%v: exit code %d, %q", err, r.code, r.err)
	}
	return s, r.err
}

// TestCountersJSON pins the names that programs read.
func TestCountersJSON(t *testing.T) {
	for _, how := range []string{"perf", "seccomp", "auto", "off"} {
		t.Run(how, func(t *testing.T) {
			path := writeFile(t, "small.wasm", synth.Module(small))
			r := wasmjit(t, "compile", "--stats=json", "--syscall-counters="+how, path)
			if r.code != 0 && (how == "perf" || how == "seccomp") {
				r.line(t)
				t.Skip("not to be had: " + r.err)
			}
			r.want(t, exitOK, "{", "")
			var s struct {
				Counters map[string]any `json:"syscall_counters"`
				Phases   map[string]map[string]any
			}
			if err := json.Unmarshal([]byte(r.out), &s); err != nil {
				t.Fatal(err)
			}
			if got := keys(s.Phases); !slices.Equal(got, phaseNames) {
				t.Errorf("phases %v", got)
			}
			counted := s.Counters["method"] != "none"
			phase := []string{"codemem", "cpu_ns", "gc_cycles", "locks", "major_faults", "minor_faults", "overlap_ns", "wall_ns"}
			sum := []string{"futex", "method", "mprotect", "mprotect_issued", "reason"}
			if counted {
				phase = []string{"codemem", "cpu_ns", "gc_cycles", "kernel_calls", "locks", "major_faults", "minor_faults", "overlap_ns", "wall_ns"}
				sum = []string{"futex", "method", "mprotect", "mprotect_agrees", "mprotect_issued"}
			}
			if how == "off" && counted {
				t.Error("counted although off")
			}
			if got := keys(s.Counters); !slices.Equal(got, sum) {
				t.Errorf("counters %v, want %v", got, sum)
			}
			for name, p := range s.Phases {
				if got := keys(p); !slices.Equal(got, phase) {
					t.Errorf("phase %s: %v, want %v", name, got, phase)
				}
				calls, _ := p["codemem"].(map[string]any)
				for _, call := range []string{"mprotect_to_rw", "mprotect_to_rx", "mprotect_other", "mprotect_view", "pkey_mprotect",
					"mmap", "munmap", "madvise", "memfd", "membarrier"} {
					if cost, ok := calls[call].(map[string]any); !ok || !slices.Equal(keys(cost), []string{"bytes", "calls", "ns"}) {
						t.Errorf("phase %s: %s is %v", name, call, calls[call])
					}
				}
				kernel, _ := p["kernel_calls"].(map[string]any)
				for _, call := range []string{"futex", "mprotect"} {
					if _, ok := kernel[call].(float64); ok != counted {
						t.Errorf("phase %s: kernel_calls %v", name, kernel)
					}
				}
			}
			if agrees, ok := s.Counters["mprotect_agrees"]; ok && agrees != true && !withCgo {
				t.Errorf("the kernel saw other mprotects than were issued: %v", s.Counters)
			}
		})
	}
}

func keys[V any](m map[string]V) []string {
	var all []string
	for k := range m {
		all = append(all, k)
	}
	slices.Sort(all)
	return all
}

// TestCountersStrace compares the mprotects of a whole process.
func TestCountersStrace(t *testing.T) {
	if withCgo {
		t.Skip("built with cgo: the C library changes protections too")
	}
	log := filepath.Join(t.TempDir(), "log")
	for _, mode := range []string{"seal", "off", "dual", "fine", "hoisted"} {
		s, _ := compileJSON(t, []string{"strace", "-f", "-qq", "-o", log, "-e", "trace=mprotect,pkey_mprotect"},
			"--write-protect-code-memory="+mode, "-j3")
		b, err := os.ReadFile(log)
		if err != nil {
			t.Fatal(err)
		}
		seen := int64(len(regexp.MustCompile(`(?m)^\d+ +(pkey_)?mprotect\(`).FindAll(b, -1)))
		if s.Counters.Issued != seen || s.Codemem.Mprotect > seen {
			t.Errorf("%s: %d mprotects counted, %d of code memory, strace sees %d", mode, s.Counters.Issued, s.Codemem.Mprotect, seen)
		}
	}
}

// TestCountersPerf compares with perf's count of the whole process.
func TestCountersPerf(t *testing.T) {
	if withCgo {
		t.Skip("built with cgo: the C library changes protections too")
	}
	perf := []string{"perf", "stat", "-x", ",", "-e", "syscalls:sys_enter_mprotect", "-e", "syscalls:sys_enter_futex"}
	s, stat := compileJSON(t, perf)
	total := func(call string) int64 {
		m := regexp.MustCompile(`(?m)^(\d+),.*sys_enter_` + call).FindStringSubmatch(stat)
		if m == nil {
			t.Skipf("perf doesn't count %s here: %q", call, stat)
		}
		n, err := strconv.ParseInt(m[1], 10, 64)
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	if n := total("mprotect"); n != s.Counters.Issued {
		t.Errorf("perf stat sees %d mprotects, %d counted", n, s.Counters.Issued)
	}
	if n := total("futex"); s.Counters.Futex < 0 || s.Counters.Futex > n {
		t.Errorf("perf stat sees %d futex calls in the whole process, %d counted in the phases", n, s.Counters.Futex)
	}
}

// TestOverlap checks that what is published while others compile counts as
// publishing: with V8 9.2's scopes nearly all switches.
func TestOverlap(t *testing.T) {
	for _, c := range []struct {
		mode string
		want func(compile, publish int64, l *ledgerStats) bool
	}{
		{"fine", func(compile, publish int64, l *ledgerStats) bool {
			return compile == 3*l.Batches+l.Constant && publish == 2*l.Functions
		}},
		{"hoisted", func(compile, publish int64, l *ledgerStats) bool {
			return compile == 3*l.Batches+l.Constant && publish == 2*l.Publications
		}},
		{"seal", func(compile, publish int64, _ *ledgerStats) bool { return compile == 0 && publish == 1 }},
	} {
		s, _ := compileJSON(t, nil, "--write-protect-code-memory="+c.mode, "-j1")
		if n := s.Phases["compile"].CPUNs; n <= 0 {
			t.Errorf("%s: %d ns of processor time in compile", c.mode, n)
		}
		compile, publish := s.Phases["compile"], s.Phases["publish"]
		if !c.want(compile.Codemem.OnCode(), publish.Codemem.OnCode(), &s.Ledger) {
			t.Errorf("%s: %d mprotects in compile, %d in publish; ledger %+v", c.mode, compile.Codemem.OnCode(), publish.Codemem.OnCode(), s.Ledger)
		}
		for _, p := range s.Phases {
			if p.MinorFaults < 0 || p.CPUNs < 0 {
				t.Errorf("%s: a phase of less than nothing: %+v", c.mode, p)
			}
		}
		if over := publish.OverlapNs > 0; over != (c.mode != "seal") {
			t.Errorf("%s: overlap of %d ns", c.mode, publish.OverlapNs)
		}
	}
}

// TestOverlapByThread compares phase by phase with the kernel's counts of the
// publishing threads.
func TestOverlapByThread(t *testing.T) {
	if withCgo {
		t.Skip("built with cgo: the C library changes protections too")
	}
	for _, mode := range []string{"fine", "hoisted", "seal"} {
		s, _ := compileJSON(t, nil, "--write-protect-code-memory="+mode, "-j3", "--syscall-counters=perf")
		for name, p := range s.Phases {
			if n := p.Kernel["mprotect"]; n != p.Codemem.Mprotects() {
				t.Errorf("%s, %s: the kernel counts %d mprotects, wasmjit %d", mode, name, n, p.Codemem.Mprotects())
			}
			if p.MinorFaults < 0 || p.CPUNs < 0 || p.Kernel["futex"] < 0 {
				t.Errorf("%s, %s: less than nothing: %+v", mode, name, p)
			}
		}
	}
}

func TestCountersTable(t *testing.T) {
	path := writeFile(t, "small.wasm", synth.Module(small))
	r := wasmjit(t, "compile", "--syscall-counters=off", path)
	r.want(t, exitOK, "futex: n/a (--syscall-counters=off)", "")
	r = wasmjit(t, "compile", path)
	r.want(t, exitOK, "page faults", "")
	if !strings.Contains(r.out, "all futex") {
		t.Errorf("no column of futex calls: %s", r.out)
	}
	r = wasmjit(t, "compile", "--syscall-counters=yes", path)
	r.want(t, exitUsage, "", "auto, perf, seccomp")
	r.line(t)
}
