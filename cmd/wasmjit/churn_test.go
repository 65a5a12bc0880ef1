package main

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/internal/synth"
)

// Functions of a module are replaced and freed while it runs, in every mode
// that can; every run gives what the first one gave.
func TestChurn(t *testing.T) {
	path := writeFile(t, "m.wasm", synth.Module(small))
	for _, name := range codemem.ModeNames() {
		mode, err := codemem.ParseMode(name)
		if err != nil {
			t.Fatal(err)
		}
		if codemem.Check(mode) != nil || !mode.Patchable() {
			continue
		}
		t.Run(name, func(t *testing.T) {
			r := wasmjit(t, "bench", "churn", "--invoke=run", "--duration=500ms", "--patchers=2", "--batch=50",
				"--format=json", "--write-protect-code-memory="+name, path)
			r.want(t, exitOK, `"wasmjit"`, "")
			var c churnResult
			if err := json.Unmarshal([]byte(r.out), &c); err != nil {
				t.Fatal(err)
			}
			if !c.Checked || c.Replaced == 0 || c.Freed != c.Replaced || c.Replaced != 50*c.Batches || c.Protection != name {
				t.Errorf("%+v", c)
			}
			want := map[codemem.Mode]int64{codemem.Hoisted: 1, codemem.Fine: 1}[mode]
			if (c.OnCode > 0) != (want > 0) {
				t.Errorf("%d mprotects on code", c.OnCode)
			}
			if mode == codemem.Dual && (c.OnViews == 0 || c.OnViews > 2*c.Batches) {
				t.Errorf("%d mprotects on views for %d batches", c.OnViews, c.Batches)
			}
		})
	}
	wasmjit(t, "bench", "churn", "--invoke=run", "--duration=100ms", path).want(t, exitOK, "functions replaced, freed", "")
	for _, c := range []struct{ args, err string }{
		{"--write-protect-code-memory=seal", "can't be replaced; use dual"},
		{"--publish=linked", "publish it through slots"},
		{"--patchers=0", "at least 1"},
		{"--duration=0s", "must be positive"},
		{"--format=csv", "table or json"},
	} {
		r := wasmjit(t, "bench", "churn", c.args, path)
		r.want(t, exitUsage, "", c.err)
		r.line(t)
	}
	wasmjit(t, "bench", "churn").want(t, exitUsage, "", "needs a FILE")
	wasmjit(t, "bench", "churn", "--invoke=nothing", path).want(t, exitError, "", `exports no function "nothing"`)
}

// The ledger of the command's JSON balances with one worker.
func TestLedgerBalances(t *testing.T) {
	path := writeFile(t, "m.wasm", synth.Module(small))
	for flag, formula := range map[string]string{
		"--wasm_write_protect_code_memory":    "2B + 2P + B + c (5B + c)",
		"--write-protect-code-memory=fine":    "2N + 3B + c",
		"--write-protect-code-memory=seal":    "1 per range of code (at most 3)",
		"--publish=slots":                     "0", // dual
		"--no-wasm-write-protect-code-memory": "0",
	} {
		r := wasmjit(t, "compile", "-j1", "--stats=json", "--syscall-counters=off", flag, path)
		r.want(t, exitOK, "ledger", "")
		var s struct {
			Ledger ledgerStats `json:"ledger"`
			Module struct {
				Functions int64 `json:"functions"`
			} `json:"module"`
			Options struct {
				Publish string `json:"publish"`
			} `json:"options"`
		}
		if err := json.Unmarshal([]byte(r.out), &s); err != nil {
			t.Fatal(err)
		}
		l := s.Ledger
		slots := strings.Contains(formula, "B") || flag == "--publish=slots"
		if l.Formula != formula || !l.Exact || l.Predicted != l.Counted || (l.Publish == "slots") != slots || l.Publish != s.Options.Publish {
			t.Errorf("%s: %+v", flag, l)
		}
		if slots && l.Functions != s.Module.Functions {
			t.Errorf("%s: N = %d", flag, l.Functions)
		}
	}
	wasmjit(t, "compile", "-j1", "--write-protect-code-memory=fine", path).want(t, exitOK, "2N: switches of nativemodule.patchSlot", "")
	if codemem.Check(codemem.PKU) != nil {
		r := wasmjit(t, "compile", "--wasm-memory-protection-keys", path)
		r.want(t, exitError, "", "code protection mode pku is not available")
		r.line(t)
	}
}
