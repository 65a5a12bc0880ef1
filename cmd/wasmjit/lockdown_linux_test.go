package main

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/internal/doctor"
)

// A locked process runs, traps and exits like any other.
func TestLockdown(t *testing.T) {
	hi := writeFile(t, "hi.wasm", hello(t, 1, "hi\n", 0x41, 7, 0x10, 1)) // proc_exit(7)
	bad := writeFile(t, "bad.wasm", module(t, "", fn{name: "_start", body: []byte{0x00, 0x0b}}))
	modes := []string{"", "--write-protect-code-memory=seal"}
	if codemem.Check(codemem.Dual) == nil {
		modes = append(modes, "--write-protect-code-memory=dual")
	}
	for _, mode := range modes {
		args := []string{"run", "--lockdown"}
		if mode != "" {
			args = append(args, mode)
		}
		r := wasmjit(t, append(args, hi)...)
		if strings.Contains(r.err, "PR_SET_MDWE") {
			t.Skip(r.err)
		}
		r.want(t, 7, "hi\n", "")
		r = wasmjit(t, append(args, bad)...)
		r.want(t, exitTrap, "", "trap: unreachable")
		if !strings.Contains(r.err, "_start") {
			t.Errorf("the trap names no function: %s", r.err)
		}
	}
}

func TestLockdownRefuses(t *testing.T) {
	hi := writeFile(t, "hi.wasm", hello(t, 1, "hi\n"))
	for _, mode := range []string{"off", "fine", "hoisted", "pku"} {
		r := wasmjit(t, "run", "--lockdown", "--write-protect-code-memory="+mode, hi)
		r.want(t, exitUsage, "", "use dual or seal")
		r.line(t)
	}
	f, err := os.Open("/proc/self/status")
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = f.Close() }()
	c := program(t, nil, "run", "--lockdown", hi)
	c.Stdin = f
	r := finish(t, c)
	r.want(t, exitError, "", "/dev/stdin lies on a procfs")
	r.line(t)
}

func TestDoctor(t *testing.T) {
	wasmjit(t, "doctor").want(t, exitOK, "protection modes", "")
	r := wasmjit(t, "doctor", "--json")
	r.want(t, exitOK, "findings", "")
	var report doctor.Report
	if err := json.Unmarshal([]byte(r.out), &report); err != nil || len(report.Findings) < 20 {
		t.Errorf("%d findings, %v", len(report.Findings), err)
	}
	for _, f := range report.Findings {
		if f.State == doctor.Unknown && strings.Contains(f.Why, "probe") {
			t.Errorf("%+v", f)
		}
	}
	for _, args := range [][]string{{"doctor", "probe", "none"}, {"doctor", "attack", "none", "seal", "open"}} {
		if r := wasmjit(t, args...); r.code == exitOK || r.err == "" {
			t.Errorf("%v: %+v", args, r)
		}
	}
}

// doctor --prove shows what the tests of the attacks demand: see there.
func TestProve(t *testing.T) {
	wasmjit(t, "doctor", "--prove").want(t, exitOK, "SIGSEGV", "")
	r := wasmjit(t, "doctor", "--prove", "--json")
	r.want(t, exitOK, "outcomes", "")
	var v struct {
		Outcomes []proof `json:"outcomes"`
	}
	if err := json.Unmarshal([]byte(r.out), &v); err != nil {
		t.Fatal(err)
	}
	stores := 0
	for _, p := range v.Outcomes {
		if p.Attack == "store" && p.Answer != "-" {
			stores++
			if p.Changed != (p.Mode == "off") {
				t.Errorf("%+v", p)
			}
		}
	}
	if stores == 0 {
		t.Error("no mode was attacked")
	}
}
