package main

import (
	"os"
	"strconv"
	"strings"
)

// phase is what one step cost: wall time, and user and system time of all
// threads of the process.
type phase struct {
	Name   string `json:"-"`
	WallNs int64  `json:"wall_ns"`
	CPUNs  int64  `json:"cpu_ns"`
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
