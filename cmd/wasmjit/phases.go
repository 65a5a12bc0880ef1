package main

import (
	"os"
	"strconv"
	"strings"
	"time"
)

// phase is what one step cost.
type phase struct {
	Name   string `json:"-"`
	WallNs int64  `json:"wall_ns"`
	CPUNs  int64  `json:"cpu_ns"`
}

// stopwatch measures a phase: wall time, and user and system time of all
// threads of the process.
type stopwatch struct {
	wall time.Time
	cpu  time.Duration
}

func start() stopwatch { return stopwatch{time.Now(), cpuTime()} }

func (s stopwatch) stop(name string) phase {
	wall := time.Since(s.wall)
	return phase{name, int64(wall), int64(cpuTime() - s.cpu)}
}

// peakRSS is the largest resident set so far in bytes (VmHWM of
// /proc/self/status), 0 if the system doesn't tell.
func peakRSS() int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		return 0
	}
	for line := range strings.Lines(string(b)) {
		if rest, ok := strings.CutPrefix(line, "VmHWM:"); ok {
			kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
			if err != nil {
				return 0
			}
			return kib << 10
		}
	}
	return 0
}
