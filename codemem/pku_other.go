//go:build !amd64

package codemem

import "unsafe"

// Other processors have no protection keys that this package uses: newKey
// refuses, and nothing below is called.

func hasPKU() bool { return false }

func keyCopy(unsafe.Pointer, *byte, uintptr, uint32) { panic("codemem: no protection keys") }

func keyCopyOut(*byte, unsafe.Pointer, uintptr, uint32) { panic("codemem: no protection keys") }

func keyStore64(unsafe.Pointer, uint64, uint32) { panic("codemem: no protection keys") }
