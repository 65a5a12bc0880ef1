package main

import "golang.org/x/sys/unix"

// threadID is the kernel's number of the calling thread.
func threadID() int { return unix.Gettid() }
