package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"
	"time"
)

// TestLanes checks that events in a row nest.
func TestLanes(t *testing.T) {
	l := lanes{}
	for _, e := range []struct {
		thread     int
		start, end time.Duration
		row        int
		fresh      string
	}{
		{7, 0, 100, 7, "thread 7"},
		{7, 10, 20, 7, ""},                 // inside
		{7, 15, 120, 0, "thread 7, row 2"}, // overlaps both
		{8, 16, 130, 8, "thread 8"},
		{7, 20, 30, 7, ""}, // behind the second
		{7, 90, 110, 0, ""},
		{7, 95, 115, 1, "thread 7, row 3"},
		{7, 130, 140, 7, ""},
	} {
		row, fresh := l.place(e.thread, e.start, e.end)
		if row != e.row || fresh != e.fresh {
			t.Errorf("thread %d, [%d,%d): row %d %q, want %d %q", e.thread, e.start, e.end, row, fresh, e.row, e.fresh)
		}
	}
}

// TestTraceWriteScopes checks the timeline of a whole compile.
func TestTraceWriteScopes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "trace.json")
	wasmjit(t, "compile", "-j2", "--synthetic=unity:1000", "--trace-write-scopes="+path).want(t, 0, "mprotect", "")
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var trace struct {
		TraceEvents []traceEvent `json:"traceEvents"`
	}
	if err := json.Unmarshal(b, &trace); err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	named := map[int]bool{}
	for _, e := range trace.TraceEvents {
		switch {
		case e.Phase == "M":
			named[e.Thread] = true
			continue
		case e.Phase != "X" || e.Start < 0 || e.Duration < 0 || !named[e.Thread]:
			t.Errorf("bad event: %+v", e)
		}
		seen[e.Category+" "+e.Name]++
	}
	if seen["switch mprotect to RX"] != 1 {
		t.Errorf("%d switches to RX, want 1: %v", seen["switch mprotect to RX"], seen)
	}
	if seen["scope nativemodule.worker"] == 0 {
		t.Errorf("no scope of the workers: %v", seen)
	}
	r := wasmjit(t, "compile", "--synthetic=unity:1000", "--trace-write-scopes="+t.TempDir())
	r.want(t, exitError, "", "directory")
	r.line(t)
}
