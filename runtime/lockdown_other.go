//go:build !linux

package runtime

// LockProcess fails: compiled code doesn't run here.
func LockProcess() error { return errUnsupported }
