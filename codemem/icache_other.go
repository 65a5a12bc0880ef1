//go:build !arm64

package codemem

// syncCode has nothing to do: these processors keep instruction fetch coherent
// with stores.
func (s *Space) syncCode(lo, hi uintptr) {}
