package main

import (
	"os"
	"syscall"
	"time"
)

const (
	touched = 64 << 20
	page    = 4096
	// noHugePage is MADV_NOHUGEPAGE.
	noHugePage = 15
)

func measureFaults() (c faultCost, err error) {
	if c.AnonymousNS, err = touch(-1, syscall.MAP_PRIVATE|syscall.MAP_ANON); err != nil {
		return c, err
	}
	f, err := os.CreateTemp("/dev/shm", "storm")
	if err != nil { // no such file system: dual's cost can't be told
		return c, nil
	}
	defer func() { _ = f.Close(); _ = os.Remove(f.Name()) }()
	if err := f.Truncate(touched); err != nil {
		return c, err
	}
	c.FileNS, err = touch(int(f.Fd()), syscall.MAP_SHARED)
	return c, err
}

// touch writes to each page of a new mapping, the best of three.
func touch(fd, flags int) (float64, error) {
	best := 0.0
	for range 3 {
		m, err := syscall.Mmap(fd, 0, touched, syscall.PROT_READ|syscall.PROT_WRITE, flags)
		if err != nil {
			return 0, os.NewSyscallError("mmap", err)
		}
		if flags&syscall.MAP_ANON != 0 {
			if err := syscall.Madvise(m, noHugePage); err != nil {
				return 0, os.NewSyscallError("madvise", err)
			}
		}
		start := time.Now()
		for i := 0; i < touched; i += page {
			m[i] = 1
		}
		ns := float64(time.Since(start)) / (touched / page)
		if best == 0 || ns < best {
			best = ns
		}
		if err := syscall.Munmap(m); err != nil {
			return 0, os.NewSyscallError("munmap", err)
		}
		if fd >= 0 { // the next touch is a first one again
			if err := syscall.Ftruncate(fd, 0); err != nil {
				return 0, os.NewSyscallError("ftruncate", err)
			}
			if err := syscall.Ftruncate(fd, touched); err != nil {
				return 0, os.NewSyscallError("ftruncate", err)
			}
		}
	}
	return best, nil
}
