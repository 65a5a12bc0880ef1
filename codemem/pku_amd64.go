package codemem

import "unsafe"

// hasPKU reports whether the processor has protection keys and the system has
// turned them on (CPUID leaf 7: OSPKE).
func hasPKU() bool

// keyCopy copies n bytes from src to dst, which a key protects whose two bits
// in PKRU are mask: it clears them, copies and restores the register. It is a
// leaf, so Go neither preempts it nor moves it to another thread.
//
//go:noescape
func keyCopy(dst unsafe.Pointer, src *byte, n uintptr, mask uint32)

// keyCopyOut copies the other way.
//
//go:noescape
func keyCopyOut(dst *byte, src unsafe.Pointer, n uintptr, mask uint32)

// keyStore64 stores v at p by one store.
//
//go:noescape
func keyStore64(p unsafe.Pointer, v uint64, mask uint32)
