package doctor

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"

	"golang.org/x/sys/unix"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/internal/attack"
)

// Groups of findings.
const (
	groupSystem   = "system"
	groupCPU      = "processor"
	groupCode     = "code memory"
	groupModes    = "protection modes"
	groupSecurity = "security modules"
	groupHuge     = "huge pages"
	groupSpace    = "address space"
	groupCount    = "counters"
	groupRun      = "running"
)

func newReport() *Report {
	r := &Report{Schema: 1, Host: runtime.GOOS + "/" + runtime.GOARCH}
	var u unix.Utsname
	if unix.Uname(&u) == nil {
		r.Kernel = unix.ByteSliceToString(u.Release[:])
	}
	return r
}

// probes: what is asked, in the order of the report.
var probes = append(append([]probe{
	{ask: system},
	{ask: processor},
	{ask: executable},
	{ask: memfd},
	{name: "pkey", child: true, group: groupCode, what: "memory protection keys", ask: keys},
	{name: "mseal", child: true, group: groupCode, what: "mseal", ask: mseal},
	{name: "mdwe", child: true, group: groupCode, what: "PR_SET_MDWE", ask: mdwe},
	{ask: membarrier},
}, modeProbes()...), []probe{
	{ask: securityModules},
	{ask: hugeSettings},
	{name: "huge", child: true, group: groupHuge, what: "2 MiB pages for code", ask: hugePages},
	{ask: addressSpace},
	{name: "reserve", child: true, group: groupSpace, what: "reservations of 8 GiB", ask: reservations},
	{ask: perfSettings},
	{name: "perf", child: true, group: groupCount, what: "system calls counted by tracepoints", ask: perfCounters},
	{name: "seccomp", child: true, group: groupCount, what: "system calls counted by a seccomp trap", ask: seccompCounters},
	{ask: running},
}...)

// modeProbes compile and call a module in each protection mode.
func modeProbes() []probe {
	var all []probe
	for _, name := range codemem.ModeNames() {
		all = append(all, probe{name: "mode-" + name, child: true, group: groupModes, what: name, ask: func() []Finding {
			mode, err := codemem.ParseMode(name)
			if err == nil {
				err = attack.Works(mode)
			}
			return []Finding{yesIf(groupModes, name, err)}
		}})
	}
	return append(all, probe{ask: func() []Finding {
		return []Finding{chosen("default for code compiled ahead", false), chosen("default for code patched later", true)}
	}})
}

// chosen is the mode that no flag means.
func chosen(what string, patched bool) Finding {
	mode, err := codemem.Resolve(codemem.Auto, patched)
	f := yesIf(groupModes, what, err)
	if err == nil {
		f.Value = mode.String()
	}
	return f
}

// yesIf is a finding that is answered by an error.
func yesIf(group, name string, err error) Finding {
	f := Finding{Group: group, Name: name, State: Yes}
	var mode *codemem.ModeError
	switch {
	case errors.As(err, &mode) && mode.Reason != "":
		f.State, f.Why = No, mode.Reason
		if mode.Err != nil {
			f.Why += ": " + mode.Err.Error()
		}
	case err != nil:
		f.State, f.Why = No, err.Error()
	}
	return f
}

// setting reads a file of one line, "" where there is none.
func setting(path string) string {
	b, err := os.ReadFile(path)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// selected gives the word in brackets of a setting with choices.
func selected(s string) string {
	_, rest, ok := strings.Cut(s, "[")
	if !ok {
		return s
	}
	word, _, _ := strings.Cut(rest, "]")
	return word
}

// field gives the value of a line "name: value" of a file.
func field(path, name string) string {
	for line := range strings.Lines(setting(path)) {
		key, value, ok := strings.Cut(line, ":")
		if ok && strings.TrimSpace(key) == name {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func system() []Finding {
	return []Finding{
		{Group: groupSystem, Name: "processors", State: Yes, Value: fmt.Sprint(runtime.NumCPU())},
		{Group: groupSystem, Name: "page size", State: Yes, Value: fmt.Sprintf("%d bytes", os.Getpagesize())},
		{Group: groupSystem, Name: "memory", State: Yes, Value: field("/proc/meminfo", "MemTotal")},
	}
}
