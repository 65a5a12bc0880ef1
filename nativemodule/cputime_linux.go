package nativemodule

import (
	"time"

	"golang.org/x/sys/unix"
)

// processCPU is the processor time that the process has used.
func processCPU() time.Duration {
	var t unix.Timespec
	if unix.ClockGettime(unix.CLOCK_PROCESS_CPUTIME_ID, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}
