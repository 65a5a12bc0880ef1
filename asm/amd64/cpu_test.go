package amd64

import (
	"os"
	"runtime"
	"strings"
	"testing"
)

// cpuFlags is the set of flags of the first CPU in /proc/cpuinfo.
func cpuFlags(t *testing.T) map[string]bool {
	if runtime.GOARCH != "amd64" {
		t.Skip("not on this architecture")
	}
	info, err := os.ReadFile("/proc/cpuinfo")
	if err != nil {
		t.Skip(err)
	}
	_, line, ok := strings.Cut(string(info), "\nflags")
	if !ok {
		t.Skip("no flags in /proc/cpuinfo")
	}
	line, _, _ = strings.Cut(line, "\n")
	set := map[string]bool{}
	for _, f := range strings.Fields(line) {
		set[f] = true
	}
	return set
}

// TestDetect checks the features against what the kernel reports.
func TestDetect(t *testing.T) {
	flags := cpuFlags(t)
	d := Detect()
	for name, got := range map[string]bool{
		"popcnt": d.Popcnt, "abm": d.Lzcnt, "bmi1": d.BMI1, "bmi2": d.BMI2, "ssse3": d.SSSE3,
		"sse4_1": d.SSE41, "sse4_2": d.SSE42, "avx": d.AVX, "avx2": d.AVX2, "fma": d.FMA, "erms": d.ERMS,
	} {
		if got != flags[name] {
			t.Errorf("%s: detected %v, the kernel says %v", name, got, flags[name])
		}
	}
}
