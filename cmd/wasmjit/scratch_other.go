//go:build !linux

package main

import "os"

// scratchFile makes a temporary file that disappears when it is closed.
func scratchFile(name string) (*os.File, error) {
	f, err := os.CreateTemp("", name)
	if err != nil {
		return nil, err
	}
	return f, os.Remove(f.Name())
}
