//go:build !linux

package runtime

// No store exists where compiled code can't run, so nothing asks for memory
// outside the Go heap either.

var pageSize uintptr = PageSize

func reserve(uintptr) (uintptr, error) { return 0, errUnsupported }

func commit(uintptr, uintptr) error { return errUnsupported }

func unmap(uintptr, uintptr) {}

func mapRW(uintptr) (uintptr, error) { return 0, errUnsupported }

func makeFinal(uintptr, uintptr) (bool, error) { return false, errUnsupported }
