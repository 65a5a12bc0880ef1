package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/wasmjit/wasmjit/internal/measure"
)

// sample is one compile in a fresh process. Figures that an engine doesn't
// tell are 0.
type sample struct {
	WallNS int64 `json:"wall_ns"`
	CPUNS  int64 `json:"cpu_ns"`
	// Code are the mprotects on code: those that wasmjit issued, or V8's with
	// PROT_EXEC less those of the same process with an empty module.
	Code int64 `json:"code_mprotects"`
	// Seen are the mprotects of the whole process that the kernel counted, -1
	// if it wasn't asked. For V8 nearly all are malloc's.
	Seen  int64 `json:"all_mprotects"`
	Futex int64 `json:"futex"` // of the whole process; -1 if not counted
	// Not set for V8.
	Predicted int64   `json:"predicted,omitempty"`
	Exact     bool    `json:"exact,omitempty"`
	N         int64   `json:"n,omitempty"`
	B         int64   `json:"b,omitempty"`
	P         int64   `json:"p,omitempty"`
	C         int64   `json:"c,omitempty"`
	Formula   string  `json:"formula,omitempty"`
	Locks     int64   `json:"locks,omitempty"`
	Contended int64   `json:"locks_contended,omitempty"`
	Faults    int64   `json:"minor_faults,omitempty"` // from decoding to publishing
	GC        int64   `json:"gc_cycles,omitempty"`
	ProtectNS int64   `json:"protect_ns,omitempty"` // in calls that change protection
	OtherNS   int64   `json:"other_calls_ns,omitempty"`
	WX        float64 `json:"writable_executable_byte_s,omitempty"`
	WU        float64 `json:"writable_unpublished_byte_s,omitempty"`
	WXNS      int64   `json:"writable_executable_ns,omitempty"` // of any code
	// NotDone is set when the time was up: the counts are those until then.
	NotDone bool `json:"not_done,omitempty"`
}

// compile takes one sample.
func (t *tools) compile(p *pipeline, file string, workers int, timeout time.Duration) (sample, error) {
	if p.v8() {
		return t.compileV8(p, file, workers, timeout)
	}
	timeout *= 4 // the ledger of fine needs a whole compile
	ctx, cancel := context.WithTimeout(context.Background(), timeout)
	defer cancel()
	cmd := exec.CommandContext(ctx, t.wasmjit, compileArgs(p, file, workers)...)
	out, err := measure.Output(cmd)
	if ctx.Err() != nil {
		return sample{WallNS: int64(timeout), NotDone: true, Seen: -1, Futex: -1}, nil
	}
	if err != nil {
		return sample{}, err
	}
	return parseStats(out)
}

func compileArgs(p *pipeline, file string, workers int) []string {
	args := append([]string{"compile", "-j" + strconv.Itoa(workers), "--stats=json", "--progress=never"}, p.Args...)
	return append(args, file)
}

// calls are the figures of a kind of call in compile's statistics.
type calls struct {
	NS int64 `json:"ns"`
}

// parseStats reads what compile --stats=json prints.
func parseStats(text []byte) (sample, error) {
	var s struct {
		WallNS int64 `json:"engine_wall_ns"`
		CPUNS  int64 `json:"engine_cpu_ns"`
		Phases map[string]struct {
			Codemem map[string]calls `json:"codemem"`
			Faults  int64            `json:"minor_faults"`
			Locks   struct {
				Acquired  int64 `json:"acquired"`
				Contended int64 `json:"contended"`
			} `json:"locks"`
		} `json:"phases"`
		Counters struct {
			Futex    *int64 `json:"futex"`
			Mprotect *int64 `json:"mprotect"`
			Issued   int64  `json:"mprotect_issued"`
		} `json:"syscall_counters"`
		Protection struct {
			WX float64 `json:"writable_executable_byte_s"`
			WU float64 `json:"writable_unpublished_byte_s"`
			NS int64   `json:"writable_executable_ns"`
		} `json:"protection"`
		Go struct {
			GC int64 `json:"gc_cycles"`
		} `json:"go"`
		Ledger struct {
			Formula   string `json:"formula"`
			N         int64  `json:"n"`
			B         int64  `json:"b"`
			P         int64  `json:"p"`
			C         int64  `json:"c"`
			Predicted int64  `json:"predicted"`
			Exact     bool   `json:"exact"`
		} `json:"ledger"`
	}
	if err := json.Unmarshal(text, &s); err != nil {
		return sample{}, fmt.Errorf("statistics of wasmjit: %w", err)
	}
	l := s.Ledger
	r := sample{
		WallNS: s.WallNS, CPUNS: s.CPUNS, Code: s.Counters.Issued, Seen: -1, Futex: -1,
		Formula: l.Formula, N: l.N, B: l.B, P: l.P, C: l.C, Predicted: l.Predicted, Exact: l.Exact,
		GC: s.Go.GC, WX: s.Protection.WX, WU: s.Protection.WU, WXNS: s.Protection.NS,
	}
	if s.Counters.Futex != nil {
		r.Futex = *s.Counters.Futex
	}
	if s.Counters.Mprotect != nil {
		r.Seen = *s.Counters.Mprotect
	}
	// The phases in which code is made; freeing is the process's end.
	for _, name := range []string{"decode", "compile", "link", "publish"} {
		p := s.Phases[name]
		r.Faults += p.Faults
		r.Locks += p.Locks.Acquired
		r.Contended += p.Locks.Contended
		for kind, c := range p.Codemem {
			if strings.Contains(kind, "mprotect") || kind == "memfd" {
				r.ProtectNS += c.NS
			} else {
				r.OtherNS += c.NS
			}
		}
	}
	return r, nil
}

// compileV8 takes a sample under perf stat, which counts to the end even when
// the time is up.
func (t *tools) compileV8(p *pipeline, file string, workers int, timeout time.Duration) (sample, error) {
	s := sample{Code: -1, Seen: -1, Futex: -1}
	counts := t.dir + "/perf"
	var name string
	var args []string
	if t.perf {
		name, args = "perf", []string{"stat", "-x,", "-o", counts,
			"-e", "syscalls:sys_enter_mprotect", "--filter", "prot & 4",
			"-e", "syscalls:sys_enter_mprotect,syscalls:sys_enter_futex", "--"}
	}
	args = append(args, "timeout", "-s", "KILL", strconv.FormatFloat(timeout.Seconds(), 'f', 3, 64))
	if name == "" {
		name, args = args[0], args[1:]
	}
	args = append(args, p.Node, "--no-warnings", "--liftoff-only", "--no-wasm-lazy-compilation")
	if workers == 1 {
		args = append(args, "--single-threaded")
	} else {
		args = append(args, "--v8-pool-size="+strconv.Itoa(workers-1), "--wasm-num-compilation-tasks="+strconv.Itoa(workers))
	}
	args = append(args, p.Args...)
	start := time.Now()
	out, err := measure.Output(exec.Command(name, append(args, t.script, file)...))
	late := time.Since(start) >= timeout
	switch {
	case late && len(out) == 0:
		s.NotDone, s.WallNS = true, int64(timeout)
	case err != nil:
		return s, err
	default:
		if err := json.Unmarshal(out, &s); err != nil {
			return s, fmt.Errorf("%s: result %q: %w", p.Name, out, err)
		}
	}
	if t.perf {
		text, err := os.ReadFile(counts)
		if err != nil {
			return s, err
		}
		n, err := perfCounts(string(text))
		if err != nil || len(n) != 3 {
			return s, fmt.Errorf("perf stat of %s: %q: %w", p.Name, text, err)
		}
		s.Code, s.Seen, s.Futex = n[0], n[1], n[2]
	}
	return s, nil
}

// perfCounts reads the figures of perf stat -x, in the order of the events.
func perfCounts(text string) ([]int64, error) {
	var v []int64
	for line := range strings.Lines(text) {
		line = strings.TrimSpace(line)
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		count, _, _ := strings.Cut(line, ",")
		n, err := strconv.ParseInt(count, 10, 64)
		if err != nil {
			return nil, err
		}
		v = append(v, n)
	}
	return v, nil
}
