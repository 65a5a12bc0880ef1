package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// scratchFile makes a file that lives in memory and has no path.
func scratchFile(name string) (*os.File, error) {
	fd, err := unix.MemfdCreate(name, unix.MFD_CLOEXEC)
	if err != nil {
		return nil, os.NewSyscallError("memfd_create", err)
	}
	return os.NewFile(uintptr(fd), name), nil
}
