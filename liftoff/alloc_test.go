package liftoff_test

import (
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/synth"
	"github.com/wasmjit/wasmjit/liftoff"
)

// unityLike is a small module of a Unity build's shape.
func unityLike(t testing.TB, arch liftoff.Arch) (*decoder.Module, *liftoff.Compiler) {
	t.Helper()
	o := synth.Unity()
	o.Functions = 1000
	m, err := decoder.Decode(synth.Module(o))
	if err != nil {
		t.Fatal(err)
	}
	l, err := liftoff.NewLayout(m)
	if err != nil {
		t.Fatal(err)
	}
	c, err := liftoff.New(m, l, liftoff.Options{Arch: arch, CPU: allCPU})
	if err != nil {
		t.Fatal(err)
	}
	return m, c
}

// compileAll compiles every function and gives the bytes emitted.
func compileAll(t testing.TB, m *decoder.Module, c *liftoff.Compiler) int {
	n := 0
	for i := range m.Bodies {
		code, err := c.Compile(m.NumImportedFuncs + uint32(i))
		if err != nil {
			t.Fatal(err)
		}
		n += len(code.Bytes)
	}
	return n
}

// TestNoAllocation: once its buffers have grown, a compiler allocates nothing,
// whatever the number of functions.
func TestNoAllocation(t *testing.T) {
	for _, arch := range arches {
		m, c := unityLike(t, arch.arch)
		compileAll(t, m, c)
		// The average drops what the testing runtime allocates meanwhile.
		if n := testing.AllocsPerRun(5, func() { compileAll(t, m, c) }); n != 0 {
			t.Errorf("%s: %d functions took %v allocations, want 0", arch.name, len(m.Bodies), n)
		}
	}
}

// emittedPerByte is the measured number of emitted bytes per body byte of
// unityLike. The test fails at 3 % more; when code gets smaller, lower it.
var emittedPerByte = [...]float64{liftoff.AMD64: 1.7365, liftoff.ARM64: 1.8445}

// TestEmittedBytes keeps code from growing unnoticed.
func TestEmittedBytes(t *testing.T) {
	for _, arch := range arches {
		m, c := unityLike(t, arch.arch)
		got, want := float64(compileAll(t, m, c))/float64(m.CodeEnd-m.CodeStart), emittedPerByte[arch.arch]
		t.Logf("%s: %.4f bytes per body byte", arch.name, got)
		if got > 1.03*want {
			t.Errorf("%s: %.3f bytes per body byte, want at most 3 %% over %.3f", arch.name, got, want)
		}
	}
}

// TestSameBytesAgain: code depends on the module and options alone, not on
// what the compiler did before.
func TestSameBytesAgain(t *testing.T) {
	for _, arch := range arches {
		sameBytesAgain(t, arch.arch)
	}
}

func sameBytesAgain(t *testing.T, arch liftoff.Arch) {
	m, c := unityLike(t, arch)
	_, fresh := unityLike(t, arch)
	compileAll(t, m, c)
	for i := range m.Bodies {
		fn := m.NumImportedFuncs + uint32(len(m.Bodies)-1-i)
		a, err := c.Compile(fn)
		if err != nil {
			t.Fatal(err)
		}
		b, err := fresh.CompilePositions(fn)
		if err != nil {
			t.Fatal(err)
		}
		if string(a.Bytes) != string(b.Bytes) {
			t.Fatalf("function %d: other code the second time, or with positions", fn)
		}
	}
}

// BenchmarkCompile reports the speed in bytes of code section per second.
func BenchmarkCompile(b *testing.B) {
	for _, arch := range arches {
		b.Run(arch.name, func(b *testing.B) {
			m, c := unityLike(b, arch.arch)
			b.SetBytes(int64(m.CodeEnd - m.CodeStart))
			for b.Loop() {
				compileAll(b, m, c)
			}
		})
	}
}
