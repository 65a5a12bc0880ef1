package main

import (
	"os"
	"syscall"
)

// maxRSS is the largest resident set of a process that ended, in bytes.
func maxRSS(p *os.ProcessState) int64 {
	return p.SysUsage().(*syscall.Rusage).Maxrss << 10
}
