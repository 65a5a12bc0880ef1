// Package measure is what the programs have in common that measure wasmjit,
// alone or beside other engines: the machine's description, the output of a
// child process, and figures in tables. The statistics are package samples'.
package measure

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"
)

// Machine says where, when and under what load numbers were made.
type Machine struct {
	CPU        string `json:"cpu"`
	Cores      int    `json:"cores"`
	Kernel     string `json:"kernel"`
	Go         string `json:"go"`
	Date       string `json:"date"`
	LoadBefore string `json:"load_before"`
	LoadAfter  string `json:"load_after"`
}

// Describe describes this machine before a measurement; Done completes it.
func Describe() Machine {
	m := Machine{CPU: CPU(), Cores: runtime.NumCPU(), Go: runtime.Version(), Date: time.Now().UTC().Format(time.DateOnly), LoadBefore: load()}
	if text, err := os.ReadFile("/proc/sys/kernel/osrelease"); err == nil {
		m.Kernel = strings.TrimSpace(string(text))
	}
	return m
}

// Done notes the load at the end of the measurement.
func (m *Machine) Done() { m.LoadAfter = load() }

// String is the line that stands above a table.
func (m Machine) String() string {
	return fmt.Sprintf("%s, %d processors, Linux %s, %s, %s; load %s before, %s after",
		m.CPU, m.Cores, m.Kernel, m.Go, m.Date, m.LoadBefore, m.LoadAfter)
}

// CPU is the processor's name, "" if the system doesn't tell.
func CPU() string {
	text, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		return ""
	}
	for line := range strings.Lines(string(text)) {
		if name, value, ok := strings.Cut(line, ":"); ok && strings.TrimSpace(name) == "model name" {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

func load() string {
	text, err := os.ReadFile("/proc/loadavg")
	if err != nil {
		return "unknown"
	}
	return strings.Join(strings.Fields(string(text))[:3], " ")
}
