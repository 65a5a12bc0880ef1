package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/internal/synth"
)

func TestHelp(t *testing.T) {
	for _, command := range []string{"", "compile", "run", "validate", "version", "doctor", "completion"} {
		args := append(strings.Fields(command), "--help")
		r := wasmjit(t, args...)
		r.want(t, exitOK, "Usage:", "")
		if command != "completion" && !strings.Contains(r.out, "Examples:") {
			t.Errorf("%s --help has no examples", command)
		}
	}
	wasmjit(t).want(t, exitOK, "Usage:", "")
	wasmjit(t, "help", "run").want(t, exitOK, "--invoke", "")
	wasmjit(t, "compile", "--help").want(t, exitOK, "no file yet", "")
	wasmjit(t, "completion", "bash").want(t, exitOK, "wasmjit", "")
}

func TestUsageErrors(t *testing.T) {
	path := writeFile(t, "m.wasm", synth.Module(synth.Options{Functions: 1}))
	for _, c := range []struct{ args, text string }{
		{"compile", "needs a FILE"},
		{"compile a.wasm b.wasm", `"b.wasm" is one too many`},
		{"compile --synthetic unity x.wasm", "either a FILE or --synthetic"},
		{"compile --synthetic godot", "--synthetic must be unity"},
		{"compile --synthetic unity:0", "from 1 to"},
		{"compile --job 2 " + path, "unknown flag --job; did you mean --jobs?"},
		{"compile -j 0 " + path, "at least 1"},
		{"compile -j x " + path, "invalid argument"},
		{"compile --stats=csv " + path, "table or json"},
		{"compile --bounds=none " + path, "guard or explicit"},
		{"compile --cpu=fast " + path, "native or baseline"},
		{"compile --target=plan9/mips " + path, "linux/amd64"},
		{"compile --progress=often " + path, "auto, always or never"},
		{"compile --write-protect-code-memory=fine --publish=linked " + path, "through slots and can't link it"},
		{"compile --write-protect-code-memory=x " + path, "unknown code protection mode"},
		{"compile --no-liftoff-only " + path, "no other way"},
		{"compile --print-wasm-code-function-index=99 " + path, "has 3 functions"},
		{"run", "needs a FILE"},
		{"run --dir=/nonexistent --argv0", "flag needs an argument"},
		{"run --max-memory=x " + path, "--max-memory"},
		{"run --max-stack=1 " + path, "--max-stack"},
		{"run --invoke run " + path + " 1", "takes 0 arguments"},
		{"validate", "needs a FILE"},
		{"version x", "no arguments"},
		{"complie " + path, "did you mean"},
	} {
		r := wasmjit(t, strings.Fields(c.args)...)
		if c.text == "has 3 functions" {
			// Known only once the module is compiled, after the table.
			r.out = ""
		}
		r.want(t, exitUsage, "", c.text)
		r.line(t)
	}
}

// TestTargets compiles for both targets on this host.
func TestTargets(t *testing.T) {
	path := writeFile(t, "m.wasm", synth.Module(synth.Options{Functions: 30}))
	for target, ret := range map[string]string{"linux/amd64": "ret", "linux/arm64": "ldp x29, x30, [sp],#16"} {
		r := wasmjit(t, "compile", "--target="+target, "--print-wasm-code-function-index=5", path)
		r.want(t, exitOK, ret, "")
	}
}

func TestVersionJSON(t *testing.T) {
	r := wasmjit(t, "version", "--json")
	r.want(t, exitOK, "schema", "")
	var v versionInfo
	if err := json.Unmarshal([]byte(r.out), &v); err != nil {
		t.Fatal(err)
	}
	if v.Schema != 1 || v.Go == "" || len(v.Targets) == 0 || len(v.Features) == 0 {
		t.Errorf("incomplete: %+v", v)
	}
}

func TestCompileTable(t *testing.T) {
	path := writeFile(t, "m.wasm", synth.Module(small))
	r := wasmjit(t, "compile", "-j", "2", path)
	r.want(t, exitOK, "m.wasm: ", "")
	for _, s := range []string{"read", "decode", "compile", "link", "publish", "MB/s", "1,002 functions",
		"bytes out per byte in", "peak RSS", "mprotect", "mmap", "2 workers"} {
		if !strings.Contains(r.out, s) {
			t.Errorf("the table lacks %q:\n%s", s, r.out)
		}
	}
	if strings.Contains(r.out, "\x1b") {
		t.Errorf("colours in a pipe: %q", r.out)
	}
}

func TestCompileJSON(t *testing.T) {
	b := synth.Module(small)
	for _, c := range []struct {
		args []string
		mode string
		rx   int64
	}{
		{nil, "seal", 1},
		{[]string{"--write-protect-code-memory=off"}, "off", 0},
	} {
		r := wasmjitIn(t, b, append([]string{"compile", "--stats=json", "-j1", "-"}, c.args...)...)
		r.want(t, exitOK, "{", "")
		var s stats
		d := json.NewDecoder(strings.NewReader(r.out))
		d.DisallowUnknownFields()
		if err := d.Decode(&s); err != nil {
			t.Fatal(err)
		}
		if s.Schema != statsSchema || s.Module.Bytes != len(b) || s.Module.Functions != small.Functions+2 || s.Module.Imports != 1 {
			t.Errorf("module: %+v", s.Module)
		}
		if len(s.Phases) != 6 || s.Phases["compile"].WallNs <= 0 || s.EngineMBPerS <= 0 {
			t.Errorf("phases: %+v, %v MB/s", s.Phases, s.EngineMBPerS)
		}
		if s.Code.Bytes <= 0 || s.Code.PerWasmByte <= 0 || s.Code.Sizes.Max < s.Code.Sizes.P50 {
			t.Errorf("code: %+v", s.Code)
		}
		if s.Codemem.Mode != c.mode || s.Codemem.ToRX != c.rx || s.Codemem.Mmap < 1 {
			t.Errorf("%v: codemem %+v", c.args, s.Codemem)
		}
		if s.RSSPeak <= 0 {
			t.Error("no peak RSS")
		}
	}
}

// TestCompileDeterministic compares sizes between numbers of workers.
func TestCompileDeterministic(t *testing.T) {
	b := synth.Module(small)
	var first int64
	for i, j := range []string{"1", "2", "5"} {
		var s stats
		if err := json.Unmarshal([]byte(wasmjitIn(t, b, "compile", "--stats=json", "-j", j, "-").out), &s); err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			first = s.Code.Bytes
		}
		if s.Code.Bytes != first {
			t.Errorf("-j %s makes %d bytes, -j 1 %d", j, s.Code.Bytes, first)
		}
	}
}

func TestCompileSynthetic(t *testing.T) {
	r := wasmjit(t, "compile", "--synthetic", "unity:300", "--progress=never")
	r.want(t, exitOK, "synthetic unity:300: ", "")
	if !strings.Contains(r.out, "302 functions") {
		t.Error(r.out)
	}
}

func TestCompileTraceAndPrint(t *testing.T) {
	path := writeFile(t, "m.wasm", hello(t, 1, "hi"))
	r := wasmjit(t, "compile", "--trace-wasm-compilation-times", "--print-wasm-code-function-index=2", path)
	r.want(t, exitOK, "--- WebAssembly code ---", "Compiled function #2 using Liftoff, took ")
	for _, s := range []string{"name: _start", "index: 2", "Instructions (size = ", "ret", "--- End code ---"} {
		if !strings.Contains(r.out, s) {
			t.Errorf("no %q in %s", s, r.out)
		}
	}
	r = wasmjit(t, "compile", "--print-wasm-code-function-index=1", path)
	r.out = ""
	r.want(t, exitUsage, "", "is imported; the first defined one is 2")
}

func TestCodeLimit(t *testing.T) {
	r := wasmjit(t, "compile", "--synthetic", "unity:9000", "--max-code-mb=1")
	r.want(t, exitError, "", "code space")
	r.line(t)
}

func TestValidate(t *testing.T) {
	good := writeFile(t, "good.wasm", synth.Module(synth.Options{Functions: 3}))
	wasmjit(t, "validate", good, good).want(t, exitOK, "", "")
	broken := writeFile(t, "broken.wasm", []byte("\x00asm\x01\x00\x00\x00\x01"))
	r := wasmjit(t, "validate", good, broken, good)
	r.want(t, exitError, "", "broken.wasm: offset 0x")
	r.line(t)
	missing := filepath.Join(filepath.Dir(good), "none.wasm")
	r = wasmjit(t, "validate", missing, good, broken)
	r.want(t, exitError, "", "no such file")
	if strings.Count(r.err, "\n") != 2 || !strings.Contains(r.err, "broken.wasm") {
		t.Errorf("two bad files need two lines: %q", r.err)
	}
}

func TestRunSynthetic(t *testing.T) {
	path := writeFile(t, "m.wasm", synth.Module(small))
	for _, args := range [][]string{nil, {"--bounds=explicit"}, {"-j1", "--cpu=baseline"}, {"--write-protect-code-memory=off"}} {
		r := wasmjit(t, append(append([]string{"run", "--invoke", "run"}, args...), path)...)
		r.want(t, exitOK, smallChecksum+"\n", "")
	}
	wasmjit(t, path).want(t, exitOK, "", "")
}

func TestRunStreamsAndExit(t *testing.T) {
	out := writeFile(t, "out.wasm", hello(t, 1, "hello\n"))
	wasmjit(t, out).want(t, exitOK, "hello\n", "")
	wasmjit(t, "run", out, "--", "x").want(t, exitOK, "hello\n", "")
	b, err := os.ReadFile(out)
	if err != nil {
		t.Fatal(err)
	}
	wasmjitIn(t, b, "run", "-").want(t, exitOK, "hello\n", "")
	wasmjit(t, writeFile(t, "err.wasm", hello(t, 2, "oops\n"))).want(t, exitOK, "", "oops\n")
	// proc_exit(7) and proc_exit(259).
	wasmjit(t, writeFile(t, "x.wasm", hello(t, 1, "bye\n", 0x41, 7, 0x10, 1))).want(t, 7, "bye\n", "")
	wasmjit(t, writeFile(t, "x.wasm", hello(t, 1, "bye\n", 0x41, 0x83, 2, 0x10, 1))).want(t, 3, "bye\n", "")
	wasmjit(t, writeFile(t, "x.wasm", hello(t, 1, "bye\n", 0x41, 0, 0x10, 1))).want(t, 0, "bye\n", "")
}

func TestRunTrap(t *testing.T) {
	path := writeFile(t, "trap.wasm", module(t, "",
		fn{name: "_start", body: []byte{0x10, 3, 0x0b}},
		fn{name: "inner", body: []byte{0x00, 0x0b}}))
	r := wasmjit(t, path)
	r.want(t, exitTrap, "", "trap.wasm: ")
	lines := strings.Split(strings.TrimSpace(r.err), "\n")
	if len(lines) != 3 || !strings.Contains(lines[0], "unreachable") ||
		!strings.Contains(lines[1], "inner (function 3)") || !strings.Contains(lines[2], "_start (function 2)") {
		t.Errorf("backtrace:\n%s", r.err)
	}
}

func TestRunTimeout(t *testing.T) {
	path := writeFile(t, "loop.wasm", module(t, "", fn{name: "_start", body: []byte{0x03, 0x40, 0x0c, 0, 0x0b, 0x0b}}))
	r := wasmjit(t, "run", "--timeout=100ms", path)
	r.want(t, exitTimeout, "", "loop.wasm: stopped after 100ms")
	r.line(t)
}

func TestRunInvoke(t *testing.T) {
	path := writeFile(t, "f.wasm", module(t, "",
		fn{"sub", []byte{i32, i32}, []byte{i32}, []byte{0x20, 0, 0x20, 1, 0x6b, 0x0b}},
		fn{"mul", []byte{f64, f64}, []byte{f64}, []byte{0x20, 0, 0x20, 1, 0xa2, 0x0b}},
		fn{"neg", []byte{f32}, []byte{f32}, []byte{0x20, 0, 0x8c, 0x0b}},
		fn{"not", []byte{i64}, []byte{i64}, []byte{0x20, 0, 0x42, 0x7f, 0x85, 0x0b}},
		fn{"swap", []byte{i32, i64}, []byte{i64, i32}, []byte{0x20, 1, 0x20, 0, 0x0b}},
		fn{"nop", nil, nil, []byte{0x0b}},
	))
	for _, c := range []struct{ args, out string }{
		{"sub 1 3", "-2\n"},
		{"sub 4294967295 0xffffffff", "0\n"},
		{"sub -1 -2147483648", "2147483647\n"},
		{"mul 1.5 -2", "-3\n"},
		{"mul inf 0", "NaN\n"},
		{"neg 0.1", "-0.1\n"},
		{"not 0", "-1\n"},
		{"not 18446744073709551615", "0\n"},
		{"swap 1 2", "2\n1\n"},
		{"nop", ""},
	} {
		words := strings.Fields(c.args)
		wasmjit(t, append([]string{"run", "--invoke", words[0], path}, words[1:]...)...).want(t, exitOK, c.out, "")
	}
	for _, c := range []struct {
		args string
		code int
		text string
	}{
		{"sub 1", exitUsage, "takes 2 arguments"},
		{"sub 1 x", exitUsage, `argument 2 must be i32, not "x"`},
		{"sub 1 4294967296", exitUsage, "argument 2"},
		{"div 1 2", exitError, `exports no function "div"`},
	} {
		words := strings.Fields(c.args)
		r := wasmjit(t, append([]string{"run", "--invoke", words[0], path}, words[1:]...)...)
		r.want(t, c.code, "", c.text)
		r.line(t)
	}
	r := wasmjit(t, path)
	r.want(t, exitError, "", "exports no function _start")
	r.line(t)
}

func TestRunLinkError(t *testing.T) {
	// (import "env" "missing" (func))
	path := writeFile(t, "m.wasm", header(1, 4, 1, 0x60, 0, 0, 2, 15, 1, 3, 'e', 'n', 'v', 7, 'm', 'i', 's', 's', 'i', 'n', 'g', 0, 0))
	r := wasmjit(t, path)
	r.want(t, exitError, "", "missing")
	r.line(t)
}

// TestDumpCode: the code is the same with any number of workers, and is that of
// every function.
func TestDumpCode(t *testing.T) {
	path := writeFile(t, "m.wasm", synth.Module(synth.Options{Functions: 3000}))
	for _, target := range []string{"linux/amd64", "linux/arm64"} {
		var first []byte
		for _, jobs := range []string{"1", "2", "7"} {
			file := filepath.Join(t.TempDir(), "code")
			r := wasmjit(t, "compile", "--target="+target, "--cpu=baseline", "-j", jobs, "--stats=json", "--dump-code="+file, path)
			r.want(t, exitOK, "schema", "")
			code, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var st struct {
				Code struct {
					Bytes int `json:"bytes"`
				} `json:"code"`
			}
			if err := json.Unmarshal([]byte(r.out), &st); err != nil {
				t.Fatal(err)
			}
			if len(code) == 0 || len(code) != st.Code.Bytes {
				t.Errorf("%s -j%s: %d bytes written, %d of code", target, jobs, len(code), st.Code.Bytes)
			}
			if first == nil {
				first = code
			} else if string(code) != string(first) {
				t.Errorf("%s: other code with -j%s than with -j1", target, jobs)
			}
		}
	}
	r := wasmjit(t, "compile", "--dump-code=/nonexistent/code", path)
	r.want(t, exitError, "", "/nonexistent/code")
	r.line(t)
}
