package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"

	"github.com/wasmjit/wasmjit/internal/measure"
)

// Names of the engines, as they stand in the JSON.
const (
	wasmjit      = "wasmjit"
	liftoffV8    = "v8-liftoff"
	turbofan     = "v8-turbofan"
	spidermonkey = "spidermonkey-baseline"
	wazeroEngine = "wazero"
)

// tools are the programs that measure; an empty path is an engine that this
// machine doesn't have.
type tools struct {
	self, wasmjit, node, js string
	v8Script, smScript      string
}

// eager makes V8 compile all of a module at once.
const eager = "--no-wasm-lazy-compilation"

// compile measures one compile in a fresh process; threads is 1 or 0 for all
// cores.
func (t *tools) compile(engine, file string, threads int) (sample, error) {
	switch engine {
	case wasmjit:
		return t.wasmjitCompile(file, threads)
	case liftoffV8, turbofan:
		tier := "--liftoff-only"
		if engine == turbofan {
			tier = "--no-liftoff"
		}
		args := []string{"--no-warnings", tier, eager}
		if threads == 1 {
			args = append(args, "--single-threaded")
		}
		s, _, err := process(t.node, append(args, t.v8Script, "compile", file)...)
		return s, err
	case spidermonkey:
		args := []string{"--wasm-compiler=baseline"}
		if threads == 1 {
			args = append(args, "--no-threads")
		}
		// The shell can't tell its processor time, so what the same process
		// needs without the compile is taken off.
		args = append(args, t.smScript)
		base, _, err := process(t.js, append(args, "read", file)...)
		if err != nil {
			return base, err
		}
		s, _, err := process(t.js, append(args, "compile", file)...)
		s.CPUNS -= base.CPUNS
		return s, err
	case wazeroEngine:
		s, _, err := process(t.self, "child", "wazero", "compile", file, strconv.Itoa(workers(threads)))
		return s, err
	}
	return sample{}, fmt.Errorf("no engine %q", engine)
}

// size gives the bytes of code that an engine emits where a plain compile
// doesn't tell them.
func (t *tools) size(engine, file string) (int64, error) {
	switch engine {
	case liftoffV8:
		// A line per function, which would spoil the time.
		out, err := measure.Output(exec.Command(t.node, "--no-warnings", "--liftoff-only", eager, "--single-threaded",
			"--trace-wasm-compilation-times", t.v8Script, "compile", file))
		if err != nil {
			return 0, err
		}
		var total int64
		for line := range bytes.Lines(out) {
			_, after, ok := bytes.Cut(line, []byte(" codesize "))
			if !ok {
				continue
			}
			n, err := strconv.ParseInt(string(bytes.TrimSpace(after)), 10, 64)
			if err != nil {
				return 0, fmt.Errorf("size of code in %q: %w", line, err)
			}
			total += n
		}
		return total, nil
	case spidermonkey:
		s, _, err := process(t.js, "--wasm-compiler=baseline", t.smScript, "size", file)
		return s.CodeBytes, err
	}
	return 0, nil
}

// run measures one _start in a fresh process and gives what the guest printed.
func (t *tools) run(engine, file string) (sample, string, error) {
	switch engine {
	case liftoffV8:
		return process(t.node, "--no-warnings", "--liftoff-only", eager, t.v8Script, "run", file)
	case turbofan:
		return process(t.node, "--no-warnings", "--no-liftoff", eager, t.v8Script, "run", file)
	case wazeroEngine, wasmjit:
		return process(t.self, "child", engine, "run", file)
	}
	return sample{}, "", fmt.Errorf("no engine %q", engine)
}

// wasmjitCompile asks the command, whose statistics leave out reading the file
// and starting the process, as the others' do.
func (t *tools) wasmjitCompile(file string, threads int) (sample, error) {
	out, err := measure.Output(exec.Command(t.wasmjit, "compile", "-j", strconv.Itoa(workers(threads)),
		"--progress=never", "--stats=json", file))
	if err != nil {
		return sample{}, err
	}
	var stats struct {
		WallNS int64 `json:"engine_wall_ns"`
		CPUNS  int64 `json:"engine_cpu_ns"`
		Peak   int64 `json:"rss_peak"`
		Code   struct {
			Bytes int64 `json:"bytes"`
		} `json:"code"`
	}
	if err := json.Unmarshal(out, &stats); err != nil {
		return sample{}, fmt.Errorf("statistics of %s: %w", t.wasmjit, err)
	}
	return sample{stats.WallNS, stats.CPUNS, stats.Peak, stats.Code.Bytes}, nil
}

// process runs a process whose last line is a sample; what it wrote before is
// the guest's.
func process(name string, args ...string) (sample, string, error) {
	cmd := exec.Command(name, args...)
	out, err := measure.Output(cmd)
	if err != nil {
		return sample{}, "", err
	}
	text := strings.TrimSpace(string(out))
	guest, last := "", text
	if i := strings.LastIndexByte(text, '\n'); i >= 0 {
		guest, last = strings.TrimSpace(text[:i]), text[i+1:]
	}
	var s sample
	if err := json.Unmarshal([]byte(last), &s); err != nil {
		return s, guest, fmt.Errorf("%s: result %q: %w", cmd, last, err)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if ok && s.CPUNS == 0 {
		s.CPUNS = usage.Utime.Nano() + usage.Stime.Nano()
	}
	if ok && s.PeakRSS == 0 {
		s.PeakRSS = usage.Maxrss << 10
	}
	return s, guest, nil
}

// versions tells what was measured.
func (t *tools) versions() map[string]string {
	line := func(name string, args ...string) string {
		out, err := exec.Command(name, args...).Output()
		if err != nil {
			return "unknown"
		}
		text, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
		return text
	}
	v := map[string]string{wasmjit: line(t.wasmjit, "version"), wazeroEngine: wazeroVersion()}
	if t.node != "" {
		v[liftoffV8] = "V8 " + line(t.node, "-p", "process.versions.v8")
	}
	if t.js != "" {
		v[spidermonkey] = line(t.js, "--version")
	}
	return v
}

// scripts writes the programs for the other engines' shells.
func (t *tools) scripts(dir string) error {
	t.v8Script, t.smScript = dir+"/v8.js", dir+"/spidermonkey.js"
	return errors.Join(os.WriteFile(t.v8Script, v8Script, 0o644), os.WriteFile(t.smScript, smScript, 0o644))
}
