package asmtest

import (
	"errors"
	"runtime"
	"strings"
	"testing"
)

// ErrIndex stands for the runtime's error where an encoder checks an operand
// by indexing an array with it.
var ErrIndex = errors.New("index out of range")

// MustPanic runs fn and compares what it panics with.
func MustPanic(t *testing.T, name string, want error, fn func()) {
	t.Helper()
	defer func() {
		t.Helper()
		got := recover()
		if e, ok := got.(runtime.Error); ok && strings.Contains(e.Error(), ErrIndex.Error()) {
			got = ErrIndex
		}
		if got != want {
			t.Errorf("%s: panic %v, want %v", name, got, want)
		}
	}()
	fn()
}
