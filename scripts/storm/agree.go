package main

import (
	"fmt"
	"os"
	"os/exec"
	"regexp"
	"strings"

	"github.com/wasmjit/wasmjit/internal/measure"
)

// agreement is one process whose mprotects were counted twice.
type agreement struct {
	Pipeline string `json:"pipeline"`
	Workers  int    `json:"workers"`
	By       string `json:"by"` // "perf stat" or "strace -f"
	Issued   int64  `json:"issued"`
	Seen     int64  `json:"seen"`
}

// agreement runs wasmjit below perf stat and below strace: what each sees of a
// process must be what the process says it issued.
func (r *report) agreement(o *options, t *tools, name string) error {
	workers := r.Workers
	if len(workers) > 2 {
		workers = []int{workers[0], workers[len(workers)/2]}
	}
	for i := range t.pipelines {
		p := &t.pipelines[i]
		if p.v8() {
			continue
		}
		for _, w := range workers {
			if t.perf {
				if err := r.agree(t, p, file(o, name), w, "perf stat", "perf", "stat", "-x,", "-o", t.dir+"/agree", "-e", "syscalls:sys_enter_mprotect", "--"); err != nil {
					return err
				}
			}
			if t.strace {
				// --seccomp-bpf lets the other calls pass without a stop.
				if err := r.agree(t, p, file(o, name), w, "strace -f", "strace", "-f", "--seccomp-bpf", "-qq", "-o", t.dir+"/agree", "-e", "trace=mprotect"); err != nil {
					return err
				}
			}
		}
	}
	return nil
}

func (r *report) agree(t *tools, p *pipeline, file string, workers int, by string, counter ...string) error {
	args := append(counter[1:], t.wasmjit)
	out, err := measure.Output(exec.Command(counter[0], append(args, compileArgs(p, file, workers)...)...))
	if err != nil {
		return err
	}
	s, err := parseStats(out)
	if err != nil {
		return err
	}
	text, err := os.ReadFile(t.dir + "/agree")
	if err != nil {
		return err
	}
	seen := straceCount(string(text))
	if by == "perf stat" {
		n, err := perfCounts(string(text))
		if err != nil || len(n) != 1 {
			return fmt.Errorf("perf stat: %q: %w", text, err)
		}
		seen = n[0]
	}
	r.Agree = append(r.Agree, agreement{p.Name, workers, by, s.Code, seen})
	return nil
}

// straceLine is the begin of a call in strace's log; the line of its end,
// where another thread came between, says "resumed".
var straceLine = regexp.MustCompile(`^[0-9]+ +mprotect\(`)

func straceCount(log string) int64 {
	n := int64(0)
	for line := range strings.Lines(log) {
		if straceLine.MatchString(line) {
			n++
		}
	}
	return n
}
