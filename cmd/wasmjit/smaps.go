package main

import (
	"bufio"
	"fmt"
	"os"
	"strings"
)

// residentPages adds up, over the mappings in [lo, hi), the resident memory
// and how much of it lies in huge pages; -1 where /proc/self/smaps doesn't
// tell.
func residentPages(lo, hi uintptr) (resident, huge int64) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return -1, -1
	}
	defer func() { _ = f.Close() }()
	inside := false
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := lines.Text()
		var from, to uintptr
		if n, _ := fmt.Sscanf(line, "%x-%x ", &from, &to); n == 2 {
			inside = from >= lo && to <= hi
			continue
		}
		if !inside {
			continue
		}
		name, rest, _ := strings.Cut(line, ":")
		sum := &resident
		switch name {
		case "Rss":
		case "AnonHugePages", "ShmemPmdMapped":
			sum = &huge
		default:
			continue
		}
		var kib int64
		if _, err := fmt.Sscan(rest, &kib); err != nil {
			return -1, -1
		}
		*sum += kib << 10
	}
	if lines.Err() != nil {
		return -1, -1
	}
	return resident, huge
}
