//go:build !linux

package main

// threadID is not to be had: everything is shown as one thread.
func threadID() int { return 0 }

// thisThreadUsage is not to be had.
func thisThreadUsage() threadUsage { return threadUsage{} }
