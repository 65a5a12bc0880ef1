package main

import (
	"syscall"
	"time"
)

// cpuTime is the user and kernel time of all threads so far.
func cpuTime() time.Duration {
	self, err := syscall.GetCurrentProcess()
	if err != nil {
		return 0
	}
	var created, exited, kernel, user syscall.Filetime
	if syscall.GetProcessTimes(self, &created, &exited, &kernel, &user) != nil {
		return 0
	}
	return ticks(kernel) + ticks(user)
}

// ticks reads a duration: a Filetime counts 100 ns.
func ticks(t syscall.Filetime) time.Duration {
	return time.Duration(uint64(t.HighDateTime)<<32|uint64(t.LowDateTime)) * 100
}
