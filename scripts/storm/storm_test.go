package main

import (
	"math"
	"os"
	"path/filepath"
	"testing"
)

func TestPerfCounts(t *testing.T) {
	n, err := perfCounts("# started on Mon\n\n12,,syscalls:sys_enter_mprotect,1694540,100.00,,\n7,,syscalls:sys_enter_futex,1694540,100.00,,\n")
	if err != nil || len(n) != 2 || n[0] != 12 || n[1] != 7 {
		t.Errorf("perfCounts = %v, %v", n, err)
	}
	if _, err := perfCounts("<not supported>,,x\n"); err == nil {
		t.Error("a count that is none was accepted")
	}
}

// A call that another thread interrupts has two lines, and counts once.
func TestStraceCount(t *testing.T) {
	const log = "10  mprotect(0x1000, 4096, PROT_READ|PROT_EXEC <unfinished ...>\n" +
		"11  mprotect(0x2000, 4096, PROT_READ) = 0\n" +
		"10  <... mprotect resumed>)            = 0\n" +
		"11  pkey_mprotect(0x2000, 4096, PROT_READ, 1) = 0\n"
	if n := straceCount(log); n != 2 {
		t.Errorf("straceCount = %d, want 2", n)
	}
}

func TestParseStats(t *testing.T) {
	s, err := parseStats([]byte(`{
		"engine_wall_ns": 5, "engine_cpu_ns": 4,
		"phases": {
			"read": {"minor_faults": 100, "codemem": {"mmap": {"ns": 1000}}},
			"compile": {"minor_faults": 3, "codemem": {"mprotect_to_rx": {"ns": 10}, "mmap": {"ns": 1}}, "locks": {"acquired": 2, "contended": 1}},
			"publish": {"minor_faults": 4, "codemem": {"memfd": {"ns": 5}}}
		},
		"syscall_counters": {"futex": 9, "mprotect": 7, "mprotect_issued": 7},
		"ledger": {"formula": "2N + 3B + c", "n": 1, "b": 1, "c": 2, "predicted": 7, "exact": true}
	}`))
	if err != nil {
		t.Fatal(err)
	}
	want := sample{WallNS: 5, CPUNS: 4, Code: 7, Seen: 7, Futex: 9, Predicted: 7, Exact: true, N: 1, B: 1, C: 2,
		Formula: "2N + 3B + c", Locks: 2, Contended: 1, Faults: 7, ProtectNS: 15, OtherNS: 1}
	if s != want {
		t.Errorf("parseStats = %+v\nwant %+v", s, want)
	}
	if s, err := parseStats([]byte(`{"syscall_counters": {"method": "off"}}`)); err != nil || s.Futex != -1 || s.Seen != -1 {
		t.Errorf("counts that weren't taken: %+v, %v", s, err)
	}
}

// Each version's batches come from the other; c is the commits that are left.
func TestLedgerOfV8(t *testing.T) {
	pipelines := []pipeline{
		{Name: "V8 9.2", Node: "n"}, {Name: "V8 9.2 protected", Node: "n", Ledger: "fine", Off: "V8 9.2"},
		{Name: "V8 9.3", Node: "n"}, {Name: "V8 9.3 protected", Node: "n", Ledger: "hoisted", Off: "V8 9.3"},
	}
	one := func(name string, s ...sample) *cell { return &cell{Pipeline: name, Workers: 1, Samples: s} }
	m := &module{Name: "m", Cells: []*cell{
		one("V8 9.2", sample{Code: 13}), one("V8 9.2 protected", sample{Code: 10651}, sample{Code: 10652}),
		one("V8 9.3", sample{Code: 17}), one("V8 9.3 protected", sample{Code: 65}),
		one(hoisted, sample{N: 5307}),
	}}
	rows := (&report{}).ledger(m, pipelines)
	if len(rows) != 2 {
		t.Fatalf("%d rows", len(rows))
	}
	if r := rows[0]; r.B != 12 || r.C != 1 || r.Predicted != 10651 || r.Differing != 1 || r.Exact {
		t.Errorf("9.2: %+v", r)
	}
	if r := rows[1]; r.B != 12 || r.C != 5 || r.Predicted != 65 || !r.Exact {
		t.Errorf("9.3: %+v", r)
	}
	m.Cells[1].Samples = []sample{{Code: 9000, NotDone: true}}
	if rows = (&report{}).ledger(m, pipelines); len(rows) != 2 || !rows[0].NotDone || rows[1].B != 12 || !rows[1].Exact {
		t.Errorf("without 9.2: %+v", rows)
	}
}

func TestFutexLimit(t *testing.T) {
	for off, want := range map[float64]float64{0: 30, 100: 130, 1000: 1100} {
		if got := futexLimit(off); got != want {
			t.Errorf("futexLimit(%v) = %v, want %v", off, got, want)
		}
	}
}

func TestLeastSquares(t *testing.T) {
	if got := leastSquares([]float64{10, 50, 200}, []float64{25, 105, 405}); math.Abs(got-2) > 1e-9 {
		t.Errorf("slope = %v, want 2", got)
	}
}

// Samples of the same round are compared, also where one was left out.
func TestPairs(t *testing.T) {
	a := &cell{Samples: []sample{{WallNS: 1}, {WallNS: 2}, {WallNS: 3}}, Rounds: []int{0, 1, 2}}
	b := &cell{Samples: []sample{{WallNS: 10}, {WallNS: 30}}, Rounds: []int{0, 2}}
	var got [][2]int64
	pairs(a, b, func(x, y sample) { got = append(got, [2]int64{x.WallNS, y.WallNS}) })
	if len(got) != 2 || got[0] != [2]int64{1, 10} || got[1] != [2]int64{3, 30} {
		t.Errorf("pairs = %v", got)
	}
	pairs(a, nil, func(_, _ sample) { t.Error("a pair with nothing") })
}

func TestInsert(t *testing.T) {
	file := filepath.Join(t.TempDir(), "PERF.md")
	if err := os.WriteFile(file, []byte("a\n"+beginMark+"\nold\n"+endMark+"\nb\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	for range 2 { // a second time changes nothing
		if err := insert(file, "new\n"); err != nil {
			t.Fatal(err)
		}
		got, err := os.ReadFile(file)
		if want := "a\n" + beginMark + "\n\nnew\n\n" + endMark + "\nb\n"; err != nil || string(got) != want {
			t.Errorf("file = %q, %v, want %q", got, err, want)
		}
	}
	if err := insert(file+"x", "new"); err == nil {
		t.Error("a file that isn't there was written")
	}
}
