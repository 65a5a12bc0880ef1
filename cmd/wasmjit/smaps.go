package main

import (
	"bufio"
	"os"
	"strconv"
	"strings"
)

// residentPages adds up, over the mappings in [lo, hi), the resident memory
// and how much of it lies in huge pages; -1 where /proc/self/smaps doesn't
// tell. The kernel walks the page tables of every mapping that is read, so
// nothing behind hi is.
func residentPages(lo, hi uintptr) (resident, huge int64) {
	f, err := os.Open("/proc/self/smaps")
	if err != nil {
		return -1, -1
	}
	defer func() { _ = f.Close() }()
	inside := false
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		name, rest, _ := strings.Cut(lines.Text(), " ")
		if from, to, ok := mappingRange(name); ok {
			if from >= hi {
				return resident, huge
			}
			inside = from >= lo && to <= hi
			continue
		}
		if !inside {
			continue
		}
		sum := &resident
		switch name {
		case "Rss:":
		case "AnonHugePages:", "ShmemPmdMapped:":
			sum = &huge
		default:
			continue
		}
		kib, err := strconv.ParseInt(strings.TrimSuffix(strings.TrimSpace(rest), " kB"), 10, 64)
		if err != nil {
			return -1, -1
		}
		*sum += kib << 10
	}
	if lines.Err() != nil {
		return -1, -1
	}
	return resident, huge
}

// mappingRange reads the first word of a mapping's first line.
func mappingRange(s string) (from, to uintptr, ok bool) {
	a, b, ok := strings.Cut(s, "-")
	if !ok {
		return 0, 0, false
	}
	lo, err1 := strconv.ParseUint(a, 16, 64)
	hi, err2 := strconv.ParseUint(b, 16, 64)
	return uintptr(lo), uintptr(hi), err1 == nil && err2 == nil
}
