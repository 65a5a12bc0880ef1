package liftoff

import (
	"errors"
	"runtime"

	"github.com/wasmjit/wasmjit/asm/amd64"
)

// HostCPU gives the optional instructions of the processor this process runs
// on, for code that is to run here. Code for another machine takes the zero
// CPU, so that its bytes don't depend on the host.
func HostCPU() CPU {
	f := amd64.Detect()
	return CPU{Popcnt: f.Popcnt, Lzcnt: f.Lzcnt, BMI1: f.BMI1, BMI2: f.BMI2}
}

// CheckHost reports why compiled code can't run on this processor, or nil.
// Rounding needs SSE4.1, which every amd64 processor since 2008 has.
func CheckHost() error {
	if runtime.GOARCH == "amd64" && !amd64.Detect().SSE41 {
		return errors.New("this processor lacks SSE4.1, which compiled code needs")
	}
	return nil
}
