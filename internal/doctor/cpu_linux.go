package doctor

import (
	"runtime"
	"slices"
	"strings"
)

// feature is a processor's extension under the name of /proc/cpuinfo.
type feature struct {
	flag, name, without string
}

var features = map[string][]feature{
	"amd64": {
		{"sse4_1", "SSE4.1", "nothing can run: compiled code needs it"},
		{"popcnt", "popcnt", "popcnt takes several instructions"},
		{"abm", "lzcnt", "clz takes several instructions"},
		{"bmi1", "BMI1 (tzcnt)", "ctz takes several instructions"},
		{"bmi2", "BMI2 (shlx, rorx)", "shift counts go through rcx"},
		{"erms", "fast rep movsb", "memory.copy and memory.fill of large blocks are slower"},
		{"pku", "protection keys", "no mode pku"},
		{"ospke", "protection keys, turned on", "no mode pku"},
	},
	"arm64": {
		{"atomics", "LSE atomics", ""},
		{"bti", "branch targets", ""},
		{"paca", "pointer authentication", ""},
	},
}

// processor lists the extensions that compiled code uses or the modes need.
func processor() []Finding {
	name, key := "flags", "model name"
	if runtime.GOARCH == "arm64" {
		name, key = "Features", "CPU implementer"
	}
	all := []Finding{{Group: groupCPU, Name: "model", State: Yes, Value: field("/proc/cpuinfo", key)}}
	flags := strings.Fields(field("/proc/cpuinfo", name))
	for _, f := range features[runtime.GOARCH] {
		r := Finding{Group: groupCPU, Name: f.name, State: Yes}
		if !slices.Contains(flags, f.flag) {
			r.State, r.Why = No, f.without
		}
		all = append(all, r)
	}
	return all
}
