//go:build !linux

package decoder

import "unsafe"

func adviseHuge(unsafe.Pointer, int) {}
