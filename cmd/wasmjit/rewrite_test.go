package main

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestRewrite(t *testing.T) {
	t.Chdir(t.TempDir())
	if err := os.WriteFile("prog", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ in, want string }{
		// The default command.
		{"x.wasm", "run x.wasm"},
		{"x.wasm --flag -j compile", "run x.wasm --flag -j compile"},
		{"prog a", "run prog a"},
		{"-", "run -"},
		{"--dir . x.wasm --dir y", "run --dir . x.wasm --dir y"},
		{"--dir=. --invoke f ./x a", "run --dir=. --invoke f ./x a"},
		{"run x.wasm -- a --no_b", "run x.wasm -- a --no_b"},
		{"run -- x.wasm --no_b", "run -- x.wasm --no_b"},
		{"--liftoff-only compile x.wasm", "compile --liftoff-only x.wasm"},
		{"-j 2 compile x.wasm", "compile -j 2 x.wasm"},
		{"compile -j2 x.wasm", "compile -j2 x.wasm"},
		{"validate a b", "validate a b"},
		{"help compile", "help compile"},
		{"--help", "--help"},
		{"version --json", "version --json"},
		// V8's spellings.
		{"compile --liftoff_only x", "compile --liftoff-only x"},
		{"compile -liftoff-only x", "compile --liftoff-only x"},
		{"compile --no-liftoff-only x", "compile --liftoff-only=false x"},
		{"compile --single-threaded x", "compile --jobs=1 x"},
		{"compile --wasm-num-compilation-tasks=4 x", "compile --jobs=4 x"},
		{"compile --wasm_num_compilation_tasks 4 x", "compile --jobs 4 x"},
		{"compile --liftoff --no-wasm-tier-up --no-wasm-lazy-compilation x", "compile x"},
		{"compile --wasm-write-protect-code-memory x", "compile --write-protect-code-memory x"},
		{"compile --no-wasm-write-protect-code-memory x", "compile --write-protect-code-memory=off x"},
		{"compile --wasm-enforce-bounds-checks x", "compile --bounds=explicit x"},
		{"compile --wasm-max-committed-code-mb=64 x", "compile --max-code-mb=64 x"},
		{"compile --wasm-trace-wasm-compilation-times x", "compile --trace-wasm-compilation-times x"},
		{"compile --print_wasm_code_function_index=3 x", "compile --print-wasm-code-function-index=3 x"},
		{"compile x --no_wasm_tier_up -j 2", "compile x -j 2"},
		{"compile --unknown x", "compile --unknown x"},
		{"--single-threaded x.wasm --single-threaded", "run --jobs=1 x.wasm --single-threaded"},
	} {
		got, err := rewrite(newRoot(streams{}), strings.Fields(c.in))
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s\n got %s (%v)\nwant %s", c.in, strings.Join(got, " "), err, c.want)
		}
	}
}

func TestRewriteRefuses(t *testing.T) {
	t.Chdir(t.TempDir())
	for _, c := range []struct{ in, want string }{
		{"complie x.wasm", `unknown command "complie"; did you mean "compile"?`},
		{"valdate x.wasm", `did you mean "validate"?`},
		{"qqqqqqqqqq", "neither a command nor a file"},
		{"compile --no-liftoff x", "no other compiler"},
		{"compile --wasm-lazy-compilation x", "not available yet"},
		{"compile --no-wasm-bounds-checks x", "always checked"},
	} {
		_, err := rewrite(newRoot(streams{}), strings.Fields(c.in))
		var usage *usageError
		if !errors.As(err, &usage) || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: error %v, want one with %q", c.in, err, c.want)
		}
	}
}

func TestClosest(t *testing.T) {
	names := []string{"compile", "run", "validate", "jobs"}
	for in, want := range map[string]string{
		"compil": "compile", "comiple": "compile", "rnu": "run", "job": "jobs",
		"zzzzzzzz": "", "verification": "",
	} {
		if got := closest(in, names); got != want {
			t.Errorf("closest(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{"4096": 4096, "64KiB": 64 << 10, "8M": 8 << 20, "1GiB": 1 << 30, "12B": 12} {
		if got, err := parseSize(in); err != nil || got != want {
			t.Errorf("parseSize(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"", "x", "-1", "1TB", "9999999999GiB", "1.5M"} {
		if got, err := parseSize(in); err == nil {
			t.Errorf("parseSize(%q) = %d without an error", in, got)
		}
	}
}

func TestParseDir(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		in, host, guest string
		ro              bool
	}{
		{dir, dir, dir, false},
		{dir + "::/data", dir, "/data", false},
		{dir + "::/data:ro", dir, "/data", true},
		{dir + ":ro", dir, dir, true},
	} {
		p, err := parseDir(c.in)
		if err != nil || p.Host != c.host || p.Guest != c.guest || p.ReadOnly != c.ro {
			t.Errorf("parseDir(%q) = %+v, %v", c.in, p, err)
		}
	}
	for _, in := range []string{"", "::/x", dir + "/missing", os.Args[0]} {
		if p, err := parseDir(in); err == nil {
			t.Errorf("parseDir(%q) = %+v without an error", in, p)
		}
	}
}
