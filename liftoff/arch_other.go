//go:build !arm64

package liftoff

// Target architectures. Code for either is made on any host.
const (
	AMD64 Arch = iota
	ARM64
)
