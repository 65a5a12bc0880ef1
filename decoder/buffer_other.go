//go:build !linux

package decoder

func adviseHuge([]byte) {}
