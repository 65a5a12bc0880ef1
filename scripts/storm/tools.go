package main

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
)

// pipeline is one way to compile: a row of the tables.
type pipeline struct {
	Name string `json:"name"`
	// Node is the program, "" for wasmjit.
	Node string   `json:"-"`
	Args []string `json:"args"`
	// Ledger is the formula of the mprotects on code with one worker: "fine",
	// "hoisted" or "".
	Ledger string `json:"ledger,omitempty"`
	// Off is the pipeline without protection that this one compares with.
	Off string `json:"off,omitempty"`
}

func (p *pipeline) v8() bool { return p.Node != "" }

// Names of wasmjit's pipelines.
const (
	offLinked = "wasmjit off"
	offSlots  = "wasmjit off+slots"
	dualSlots = "wasmjit dual+slots"
	fine      = "wasmjit fine"
	hoisted   = "wasmjit hoisted"
	seal      = "wasmjit seal"
	dual      = "wasmjit dual"
	pku       = "wasmjit pku"
)

const protect = "--write-protect-code-memory="

// ours are wasmjit's pipelines. off and seal are neighbours, since their
// ratio in the same round is one of the results.
var ours = []pipeline{
	{Name: offLinked, Args: []string{protect + "off"}},
	{Name: seal, Args: []string{protect + "seal"}, Off: offLinked},
	{Name: dual, Args: []string{protect + "dual"}, Off: offLinked},
	{Name: pku, Args: []string{protect + "pku"}, Off: offLinked},
	{Name: offSlots, Args: []string{protect + "off", "--publish=slots"}},
	{Name: dualSlots, Args: []string{protect + "dual", "--publish=slots"}, Off: offSlots},
	{Name: hoisted, Args: []string{protect + "hoisted"}, Ledger: "hoisted", Off: offSlots},
	{Name: fine, Args: []string{protect + "fine"}, Ledger: "fine", Off: offSlots},
}

// flagV8 is V8's switch of the feature; 14.6 has none any more.
const flagV8 = "--wasm-write-protect-code-memory"

// tools are the programs that measure and what each can do here.
type tools struct {
	wasmjit   string
	script    string
	dir       string // of temporary files
	pipelines []pipeline
	perf      bool
	strace    bool
	missing   []string
	hold      *exec.Cmd
	held      io.Closer
	engines   map[string]string
}

func newTools(o *options, dir string) (*tools, error) {
	t := &tools{wasmjit: o.wasmjit, script: dir + "/v8.js", dir: dir, engines: map[string]string{}}
	version, err := firstLine(o.wasmjit, "version")
	if err != nil {
		return nil, err
	}
	t.engines["wasmjit"] = version
	if err := os.WriteFile(t.script, v8Script, 0o644); err != nil {
		return nil, err
	}
	t.perf = have("perf") && exec.Command("perf", "stat", "-e", "syscalls:sys_enter_mprotect", "--filter", "prot & 4", "true").Run() == nil
	if !t.perf {
		t.missing = append(t.missing, "perf stat (absent, or not permitted): calls of V8, and the cross-check with it")
	} else if err := t.holdTracepoints(); err != nil {
		return nil, err
	}
	if t.strace = have("strace"); !t.strace {
		t.missing = append(t.missing, "strace: the cross-check with it")
	}
	for node := range strings.SplitSeq(o.nodes, ",") {
		if node == "" {
			continue
		}
		if err := t.addV8(node); err != nil {
			return nil, err
		}
	}
	if o.nodes == "" {
		t.missing = append(t.missing, "V8: no node program was given")
	}
	for _, p := range ours {
		reason, err := t.refused(p)
		if err != nil {
			return nil, err
		}
		if reason != "" {
			t.missing = append(t.missing, p.Name+": "+reason)
			continue
		}
		t.pipelines = append(t.pipelines, p)
	}
	return t, nil
}

// addV8 adds the pipelines of a node program: with and without the flag, if
// it has one.
func (t *tools) addV8(node string) error {
	version, err := firstLine(node, "-p", "process.versions.v8")
	if err != nil {
		return err
	}
	help, err := exec.Command(node, "--v8-options").Output()
	if err != nil {
		return fmt.Errorf("%s --v8-options: %w", node, err)
	}
	part := strings.SplitN(version, ".", 3)
	if len(part) < 3 {
		return fmt.Errorf("%s: version of V8 %q", node, version)
	}
	name := "V8 " + part[0] + "." + part[1]
	t.engines[name] = version
	t.pipelines = append(t.pipelines, pipeline{Name: name, Node: node})
	if !strings.Contains(string(help), flagV8+" ") {
		t.missing = append(t.missing, name+" with "+flagV8+": it has no such flag any more")
		return nil
	}
	ledger := map[string]string{"V8 9.2": "fine", "V8 9.3": "hoisted"}[name]
	t.pipelines = append(t.pipelines, pipeline{Name: name + " protected", Node: node, Args: []string{flagV8}, Ledger: ledger, Off: name})
	return nil
}

// refused asks wasmjit to compile a small module in the mode and gives its
// reason if it can't here.
func (t *tools) refused(p pipeline) (string, error) {
	args := append([]string{"compile", "--progress=never", "--synthetic=unity:10"}, p.Args...)
	text, err := exec.Command(t.wasmjit, args...).CombinedOutput()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		reason := strings.TrimPrefix(strings.TrimSpace(string(text)), "wasmjit: ")
		if i := strings.Index(reason, "not available"); i >= 0 {
			return reason[i:], nil
		}
		return "", fmt.Errorf("%s: %w: %s", p.Name, err, reason)
	}
	return "", err
}

// holdTracepoints keeps the tracepoints in use: the kernel takes 40 ms to let
// go of one for the last user, which every process that counts would wait for.
func (t *tools) holdTracepoints() error {
	t.hold = exec.Command("perf", "stat", "-o", os.DevNull, "-e", "syscalls:sys_enter_mprotect,syscalls:sys_enter_futex,raw_syscalls:sys_enter", "cat")
	var err error
	if t.held, err = t.hold.StdinPipe(); err != nil {
		return err
	}
	return t.hold.Start()
}

func (t *tools) close() {
	if t.hold != nil {
		_ = t.held.Close() // ends cat
		_ = t.hold.Wait()
	}
}

func (t *tools) versions() map[string]string { return t.engines }

func firstLine(name string, args ...string) (string, error) {
	out, err := exec.Command(name, args...).Output()
	if err != nil {
		return "", fmt.Errorf("%s %s: %w", name, strings.Join(args, " "), err)
	}
	text, _, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return text, nil
}
