package liftoff

// Target architectures. Code for either is made on any host.
const (
	ARM64 Arch = iota
	AMD64
)
