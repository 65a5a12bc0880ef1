//go:build linux

package runtime

import (
	"bytes"
	"compress/gzip"
	"context"
	"io"
	"testing"
	"time"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
	"github.com/wasmjit/wasmjit/nativemodule"
	"golang.org/x/sys/unix"
)

var bg = context.Background()

// types is a short way to write a list of types.
func types(t ...decoder.Type) []decoder.Type { return t }

func newStore(t testing.TB, c Config) *Store {
	t.Helper()
	s, err := NewStore(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// compile compiles a decoded module for a store.
func compile(t testing.TB, s *Store, d *decoder.Module) *nativemodule.Module {
	t.Helper()
	m, err := nativemodule.Compile(bg, d, nativemodule.Options{Workers: 1, Liftoff: liftoff.Options{Bounds: s.Bounds()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return m
}

// instantiate compiles and instantiates a decoded module.
func instantiate(t testing.TB, s *Store, d *decoder.Module, imports Imports) *Instance {
	t.Helper()
	i, err := s.Instantiate(bg, compile(t, s, d), imports)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// i32 is the constant expression of an i32.
func i32(v uint32) decoder.ConstExpr {
	return decoder.ConstExpr{{Op: decoder.ConstValue, Type: decoder.I32, Bits: uint64(v)}}
}

func atLeast(n uint64) decoder.Limits       { return decoder.Limits{Min: n} }
func between(n, most uint64) decoder.Limits { return decoder.Limits{Min: n, Max: most, HasMax: true} }

// mustPanic runs f and fails if it returns.
func mustPanic(t *testing.T, what string, f func()) {
	t.Helper()
	defer func() {
		if recover() == nil {
			t.Errorf("%s: no panic", what)
		}
	}()
	f()
}

// cpuTime is the processor time that this process has used.
func cpuTime(t testing.TB) time.Duration {
	t.Helper()
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		t.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// profiled is the processor time in which a CPU profile is sure to have
// samples: it takes one every 10 ms.
const profiled = 300 * time.Millisecond

func gunzip(t *testing.T, b []byte) []byte {
	t.Helper()
	r, err := gzip.NewReader(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	out, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return out
}
