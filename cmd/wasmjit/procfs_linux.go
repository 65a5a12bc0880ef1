package main

import (
	"os"

	"golang.org/x/sys/unix"
)

// onProcfs reports whether an open file lies on a procfs.
func onProcfs(f *os.File) bool {
	var st unix.Statfs_t
	return unix.Fstatfs(int(f.Fd()), &st) == nil && st.Type == unix.PROC_SUPER_MAGIC
}
