//go:build !linux

package doctor

import "runtime"

func newReport() *Report {
	return &Report{Schema: 1, Host: runtime.GOOS + "/" + runtime.GOARCH}
}

var probes = []probe{{ask: func() []Finding {
	return []Finding{
		{Group: "running", Name: "compiling and validating", State: Yes},
		{Group: "running", Name: "running WebAssembly", State: No, Why: "it needs Linux"},
	}
}}}
