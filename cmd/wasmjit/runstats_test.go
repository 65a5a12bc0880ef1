package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/internal/synth"
)

// TestRunStats checks that the guest keeps stdout, and that running and
// freeing are phases, too.
func TestRunStats(t *testing.T) {
	path := writeFile(t, "small.wasm", synth.Module(small))
	file := filepath.Join(t.TempDir(), "stats.json")
	run := func(args ...string) result {
		return wasmjit(t, slices.Concat([]string{"run"}, args, []string{"--invoke=run", path})...)
	}
	plain := run()
	plain.want(t, exitOK, smallChecksum, "")
	for _, mode := range []string{"seal", "dual", "fine"} {
		r := run("--stats-file="+file, "--write-protect-code-memory="+mode)
		r.want(t, exitOK, plain.out, "")
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var s stats
		if err := json.Unmarshal(b, &s); err != nil {
			t.Fatal(err)
		}
		var names []string
		for _, p := range []string{"read", "decode", "compile", "link", "publish", "run", "free"} {
			if _, ok := s.Phases[p]; ok {
				names = append(names, p)
			}
		}
		if len(names) != len(s.Phases) || len(names) != 7 {
			t.Errorf("%s: phases %v of %d", mode, names, len(s.Phases))
		}
		if c := s.Counters; c.Method != "none" && (c.Agrees == nil || !*c.Agrees) && !withCgo {
			t.Errorf("%s: the kernel saw other mprotects on code: %+v", mode, c)
		}
		free := s.Phases["free"]
		if free.Codemem.Mmap.Calls+free.Codemem.Munmap.Calls == 0 {
			t.Errorf("%s: freeing the code took no call: %+v", mode, free.Codemem)
		}
	}
	r := run("--stats")
	r.want(t, exitOK, plain.out, "without read, run and free")
	if r.out != plain.out {
		t.Errorf("stdout %q, want the guest's %q", r.out, plain.out)
	}
	trace := filepath.Join(t.TempDir(), "trace.json")
	r = run("--trace-write-scopes=" + trace)
	r.want(t, exitOK, plain.out, "")
	if b, err := os.ReadFile(trace); err != nil || !json.Valid(b) || !strings.Contains(string(b), "mprotect to RX") {
		t.Errorf("trace: %v, %d bytes", err, len(b))
	}
	r = run("--stats=xml")
	r.want(t, exitUsage, "", "--stats")
	r.line(t)
}
