package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/internal/samples"
)

// tiny is what the tests of bench compile; nothing of it depends on time.
const tiny = "--synthetic=unity:200"

func TestBenchTable(t *testing.T) {
	r := wasmjit(t, "bench", tiny, "--count=2")
	r.want(t, exitOK, "2 samples, in one process", "")
	for _, text := range []string{"2 samples, a fresh process each", "50 % interval", "without read and free", "MB/s", "mprotects on code"} {
		if !strings.Contains(r.out, text) {
			t.Errorf("no %q in %s", text, r.out)
		}
	}
	r = wasmjit(t, "bench", tiny, "--count=1", "--process=fresh", "--format=markdown")
	r.want(t, exitOK, "| phase | median ms |", "")
}

// TestBenchJSON pins the names that programs and baselines depend on.
func TestBenchJSON(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "saved.json")
	r := wasmjit(t, "bench", tiny, "--count=2", "--format=json", "--save="+saved, "-j2")
	r.want(t, exitOK, "{", "")
	if b, err := os.ReadFile(saved); err != nil || string(b) != r.out {
		t.Errorf("the saved result differs: %v", err)
	}
	var raw struct {
		Machine    map[string]any
		Benchmarks []map[string]any
	}
	var all map[string]any
	for _, v := range []any{&raw, &all} {
		if err := json.Unmarshal([]byte(r.out), v); err != nil {
			t.Fatal(err)
		}
	}
	if got := keys(all); !slices.Equal(got, []string{"benchmarks", "machine", "schema", "time", "wasmjit"}) {
		t.Errorf("result: %v", got)
	}
	delete(raw.Machine, "cpu") // not on every system
	if got := keys(raw.Machine); !slices.Equal(got, []string{"cpus", "goarch", "goos", "reference_ns"}) {
		t.Errorf("machine: %v", got)
	}
	want := []string{"bytes", "code_bytes", "emitted_bytes", "gc_cycles", "module", "mprotects_on_code", "page_faults",
		"phases", "process", "sha256", "workers", "write_protect_code_memory"}
	for _, b := range raw.Benchmarks {
		delete(b, "futexes")  // where they can be counted
		delete(b, "rss_peak") // of fresh processes
		if got := keys(b); !slices.Equal(got, want) {
			t.Errorf("benchmark: %v, want %v", got, want)
		}
		phases, _ := b["phases"].(map[string]any)
		if got := keys(phases); !slices.Equal(got, []string{"compile", "decode", "engine", "free", "link", "publish", "read"}) {
			t.Errorf("phases: %v", got)
		}
	}
	res, err := readBenchResult(saved)
	if err != nil {
		t.Fatal(err)
	}
	for i, process := range []string{freshProcess, sameProcess} {
		b := res.Benchmarks[i]
		if b.Process != process || len(b.engine()) != 2 || len(b.Mprotects) != 2 || b.Mprotects[0] != 1 || b.Workers != 2 {
			t.Errorf("%+v", b)
		}
	}
}

// benchmarkLine is a line of Go's benchmark format: a name, a number of
// iterations, and pairs of a value and a unit.
var benchmarkLine = regexp.MustCompile(`^Benchmark[A-Z][^\s]* [1-9][0-9]*(?: -?[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)? [^\s0-9][^\s]*)+$`)

func TestBenchstatFormat(t *testing.T) {
	for _, c := range []struct {
		args  []string
		lines int
		units []string
	}{
		{[]string{"bench", tiny, "--count=2"}, 4, []string{"ns/op", "MB/s", "decode-ns/op", "mprotect/op"}},
		{[]string{"bench", "write-protect", tiny, "--count=1", "--workers=1,2", "--modes=off,seal"}, 4, []string{"ns/op", "mprotect/op", "WX-byte-s"}},
	} {
		r := wasmjit(t, append(c.args, "--format=benchstat")...)
		r.want(t, exitOK, "goos: linux\ngoarch: ", "")
		n := 0
		for _, line := range strings.Split(strings.TrimSpace(r.out), "\n") {
			if key, value, ok := strings.Cut(line, ": "); ok && !strings.Contains(key, " ") && value != "" {
				continue // configuration
			}
			n++
			if !benchmarkLine.MatchString(line) {
				t.Errorf("not a benchmark: %q", line)
			}
			for _, unit := range c.units {
				if !strings.Contains(line, " "+unit) {
					t.Errorf("no %s in %q", unit, line)
				}
			}
			if regexp.MustCompile(`-[0-9]+ `).MatchString(strings.SplitAfterN(line, " ", 2)[0]) {
				t.Errorf("the name ends like a number of processors: %q", line)
			}
		}
		if n != c.lines {
			t.Errorf("%v: %d lines, want %d", c.args, n, c.lines)
		}
	}
}

// rewriteBaseline changes the times of a saved result by a factor.
func rewriteBaseline(t *testing.T, path string, factor float64, edit func(b *benchmark)) string {
	t.Helper()
	r, err := readBenchResult(path)
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range r.Benchmarks {
		for _, s := range b.Phases {
			s.Wall = samples.Scale(s.Wall, 1/factor)
		}
		if edit != nil {
			edit(b)
		}
	}
	out := filepath.Join(t.TempDir(), "baseline.json")
	if err := saveTo(out, r); err != nil {
		t.Fatal(err)
	}
	return out
}

// TestBenchBaseline compares with baselines so much slower or faster that no
// machine is in between.
func TestBenchBaseline(t *testing.T) {
	saved := filepath.Join(t.TempDir(), "saved.json")
	bench := func(args ...string) result {
		return wasmjit(t, append([]string{"bench", tiny, "--process=fresh", "--count=5"}, args...)...)
	}
	bench("--save="+saved).want(t, exitOK, "5 samples", "")

	slow := rewriteBaseline(t, saved, 1000, nil)
	bench("--baseline="+slow, "--fail-above=5%").want(t, exitOK, "not slower", "")

	fast := rewriteBaseline(t, saved, 0.001, nil)
	r := bench("--baseline="+fast, "--fail-above=5%")
	r.want(t, exitRegression, "measuring again", "worse than the baseline by more than 5 %")
	r.line(t)
	// Without a limit it is only shown.
	bench("--baseline="+fast).want(t, exitOK, "slower", "")
	// JSON stays alone on stdout.
	r = bench("--baseline="+fast, "--fail-above=5", "--format=json")
	if r.code != exitRegression || !json.Valid([]byte(r.out)) || !strings.Contains(r.err, "slower") {
		t.Errorf("exit code %d, stderr %q", r.code, r.err)
	}

	smaller := rewriteBaseline(t, saved, 1000, func(b *benchmark) { b.EmittedBytes /= 2 })
	bench("--baseline="+smaller, "--fail-above=5%").want(t, exitRegression, "more code", "emits 100.0 % more code")

	other := rewriteBaseline(t, saved, 1, func(b *benchmark) { b.SHA256 = "0" })
	r = bench("--baseline=" + other)
	r.want(t, exitError, "5 samples", "another file")
	none := rewriteBaseline(t, saved, 1, func(b *benchmark) { b.Workers = 99 })
	r = bench("--baseline=" + none)
	r.want(t, exitError, "5 samples", "none of these benchmarks")
}

func TestBenchUsage(t *testing.T) {
	text := writeFile(t, "old.json", []byte("{}"))
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"bench --count=0", exitUsage, "--count"},
		{"bench --process=other", exitUsage, "--process"},
		{"bench --format=csv", exitUsage, "--format"},
		{"bench --fail-above=5%", exitUsage, "needs --baseline"},
		{"bench --fail-above=five --baseline=" + text, exitUsage, "percentage"},
		{"bench --fail-above=5% --count=4 --baseline=" + text, exitUsage, "--count=5"},
		{"bench --baseline=" + text, exitError, "schema 0"},
		{"bench --baseline=/nonexistent", exitError, "no such file"},
		{"bench /nonexistent.wasm", exitError, "no such file"},
		{"bench --print-wasm-code-function-index=1", exitUsage, "see wasmjit bench --help"},
		{"bench churn --nosuch", exitUsage, "see wasmjit bench churn --help"},
		{"bench --jobs=0", exitUsage, "--jobs"},
		{"bench --synthetic=doom", exitUsage, "--synthetic"},
		{"bench write-protect a b", exitUsage, "one too many"},
		{"bench write-protect --modes=on", exitUsage, "--modes"},
		{"bench write-protect --workers=0", exitUsage, "--workers"},
		{"bench write-protect -j2", exitUsage, "--workers"},
		{"bench write-protect --count=0", exitUsage, "--count"},
		{"compile --repeat=2 --synthetic=unity:10", exitUsage, "--stats=json"},
	} {
		r := wasmjit(t, strings.Fields(c.args)...)
		r.want(t, c.code, "", c.want)
		r.line(t)
	}
	bad := writeFile(t, "bad.wasm", []byte("\x00asm\x01\x00\x00\x00\x01"))
	r := wasmjit(t, "bench", bad)
	r.want(t, exitError, "", "offset")
	r.line(t)
}

// TestBenchV8Spelling checks that flags are rewritten below a subcommand.
func TestBenchV8Spelling(t *testing.T) {
	r := wasmjit(t, "bench", "--wasm_num_compilation_tasks=3", tiny, "--count=1", "--process=fresh")
	r.want(t, exitOK, "3 workers", "")
	r = wasmjit(t, "bench", "write-protect", "--no-wasm-tier-up", tiny, "--count=1", "--workers=1", "--modes=seal")
	r.want(t, exitOK, "seal", "")
	r = wasmjit(t, "bench", "--help")
	r.want(t, exitOK, "--fail-above=5%", "")
	r = wasmjit(t, "bench", "write-protect", "--help")
	r.want(t, exitOK, "W+X MB·s", "")
}

// TestBenchWorkflow checks that the example for CI uses flags that exist.
func TestBenchWorkflow(t *testing.T) {
	b, err := os.ReadFile("../../docs/bench-workflow.yml")
	if err != nil {
		t.Fatal(err)
	}
	root := newRoot(streams{})
	lines := regexp.MustCompile(`(?m)run: \./wasmjit\S* (.*) >>`).FindAllStringSubmatch(string(b), -1)
	if len(lines) != 3 {
		t.Fatalf("%d command lines found, want 3", len(lines))
	}
	for _, line := range lines {
		c, rest, err := root.Find(strings.Fields(line[1]))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.ParseFlags(rest); err != nil {
			t.Errorf("%s: %v", line[1], err)
		}
	}
}

// TestCompareBenchmarks checks what both figures, raw and scaled, must say.
func TestCompareBenchmarks(t *testing.T) {
	b := func(ms ...float64) *benchmark {
		return &benchmark{EmittedBytes: 1000, Phases: map[string]*series{engineSum: {Wall: ms}}}
	}
	old := b(100, 101, 102, 103, 104)
	for _, c := range []struct {
		name    string
		cur     *benchmark
		unit    float64 // of the reference load; 10 in the baseline
		slower  bool
		verdict string
	}{
		{"slower", b(120, 121, 122, 123, 124), 10, true, "slower"},
		{"slower on a slower machine", b(120, 121, 122, 123, 124), 12, false, "slower, as is the machine"},
		{"slower on a faster machine", b(99, 100, 101, 102, 103), 8, false, "not slower"},
		{"noise", b(99, 130, 131, 132, 133), 10, false, "within noise or limit"},
		{"few", b(200, 201), 10, false, "too few samples (5 are needed)"},
	} {
		got := compareBenchmarks(old, c.cur, 10, c.unit, 0.05)
		if got.slower() != c.slower || got.verdict() != c.verdict {
			t.Errorf("%s: slower %v, %q; want %v, %q", c.name, got.slower(), got.verdict(), c.slower, c.verdict)
		}
	}
}

func TestBenchWriteProtect(t *testing.T) {
	r := wasmjit(t, "bench", "write-protect", "--synthetic=unity:500", "--count=2", "--workers=1,3", "--format=json")
	r.want(t, exitOK, "{", "")
	var got protectResult
	d := json.NewDecoder(strings.NewReader(r.out))
	d.DisallowUnknownFields()
	if err := d.Decode(&got); err != nil {
		t.Fatal(err)
	}
	if want := (len(protectModes) - len(got.Unavailable)) * 2; len(got.Cells) != want {
		t.Errorf("%d cells, want %d", len(got.Cells), want)
	}
	for _, m := range got.Unavailable {
		if m.Reason == "" {
			t.Errorf("%s is missing without a reason", m.Mode)
		}
	}
	for _, c := range got.Cells {
		if len(c.Wall) != 2 || len(c.Mprotects) != 2 || len(c.Ratios) != 2 || c.Pages == "" {
			t.Fatalf("%s, %d workers: %+v", c.Mode, c.Workers, c)
		}
		n, b, p := float64(got.Functions), c.Batches[0], c.Publications[0]
		switch {
		case c.Mode == "seal" && c.Mprotects[0] != 1, c.Mode == "dual" && c.Mprotects[0] != 0, c.Mode == "off" && c.Mprotects[0] != 0:
			t.Errorf("%s: %v mprotects", c.Mode, c.Mprotects)
		case c.Mode == "seal" && c.WritableExecutable[0] != 0, c.Mode == "fine" && c.WritableExecutable[0] == 0:
			t.Errorf("%s: exposure %v", c.Mode, c.WritableExecutable)
		case c.Workers == 1 && c.Mode == "fine" && c.Mprotects[0] != 2*n+3*b+2:
			t.Errorf("fine: %v mprotects, want 2*%v + 3*%v + 2", c.Mprotects[0], n, b)
		case c.Workers == 1 && c.Mode == "hoisted" && c.Mprotects[0] != 3*b+2*p+2:
			t.Errorf("hoisted: %v mprotects, want 3*%v + 2*%v + 2", c.Mprotects[0], b, p)
		}
	}
	r = wasmjit(t, "bench", "write-protect", tiny, "--count=1", "--workers=1,2")
	r.want(t, exitOK, "fine", "")
	for _, text := range []string{"hoisted opens the same scopes outside of the loops", "seal makes code executable once"} {
		if !strings.Contains(r.out, text) {
			t.Errorf("no %q in %s", text, r.out)
		}
	}
}

// TestParadox checks the explanation on figures like V8's.
func TestParadox(t *testing.T) {
	fine := func(workers int, mprotects, share float64) *cell {
		return &cell{Mode: "fine", Workers: workers, Wall: []float64{1}, Mprotects: []float64{mprotects}, OpenShare: []float64{share}}
	}
	r := protectResult{Cells: []*cell{fine(1, 6039, 0.2), fine(2, 4355, 0.6), fine(8, 947, 0.99)}}
	text := strings.Join(r.explain(), "\n")
	for _, want := range []string{"The paradox", "6,039 times", "947 times", "20 % of the time with 1 worker and for 99 % with 8 workers"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in %q", want, text)
		}
	}
	r.Cells[2].Mprotects[0] = 6100
	if text := strings.Join(r.explain(), "\n"); strings.Contains(text, "The paradox") || !strings.Contains(text, "hardly overlap") {
		t.Errorf("a paradox that isn't there: %q", text)
	}
}

func TestMillis(t *testing.T) {
	for ns, want := range map[float64]string{1234: "0.001", 1.5e6: "1.50", 123.45e6: "123.5"} {
		if got := millis(ns); got != want {
			t.Errorf("%v ns: %s, want %s", ns, got, want)
		}
	}
	if _, err := strconv.ParseFloat(millis(5), 64); err != nil {
		t.Error(err)
	}
}
