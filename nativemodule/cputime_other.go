//go:build !linux

package nativemodule

import "time"

// processCPU is not measured here.
func processCPU() time.Duration { return 0 }
