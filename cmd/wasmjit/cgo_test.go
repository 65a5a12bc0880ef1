//go:build cgo

package main

// withCgo says that the C library may make system calls of its own.
const withCgo = true
