package main

import (
	"time"

	"golang.org/x/sys/unix"
)

// threadID is the kernel's number of the calling thread.
func threadID() int { return unix.Gettid() }

// thisThreadUsage reads the usage of the calling thread.
func thisThreadUsage() threadUsage {
	var u unix.Rusage
	if unix.Getrusage(unix.RUSAGE_THREAD, &u) != nil {
		return threadUsage{}
	}
	return threadUsage{time.Duration(u.Utime.Nano() + u.Stime.Nano()), int64(u.Minflt), int64(u.Majflt)}
}
