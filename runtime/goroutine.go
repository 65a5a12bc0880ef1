//go:build linux && (amd64 || arm64)

package runtime

// goroutine identifies the running goroutine among the living ones (it is the
// address of its g). Two calls that agree ran on the same goroutine, if it
// hasn't ended between them.
func goroutine() uintptr
