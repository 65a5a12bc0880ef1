package nativemodule

import (
	"context"
	"fmt"
	"os"
	"testing"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/synth"
	"github.com/wasmjit/wasmjit/liftoff"
)

// BenchmarkJob measures what the job costs beside compiling: ordering,
// placing, linking, sealing and freeing the code of a compiler that takes no
// time. Two calls a function, about two code bytes per body byte.
func BenchmarkJob(b *testing.B) {
	for _, n := range []int{100, 10_000, 200_000} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("functions=%d/workers=%d", n, workers), func(b *testing.B) {
				dm := fakeModule(0, mixedSizes(n)...)
				a, err := codemem.NewArena(1 << 30)
				if err != nil {
					b.Fatal(err)
				}
				defer a.Close()
				emit := func(c *fake, fn uint32) error {
					body := dm.Bodies[fn]
					c.call(fn / 2)
					c.call(fn / 3)
					c.code.Bytes = append(c.code.Bytes, nops[:2*(body.End-body.Start)]...)
					return nil
				}
				b.ReportAllocs()
				var s Stats
				for b.Loop() {
					m, err := build(context.Background(), dm, Options{Workers: workers, Arena: a}, emit)
					if err != nil {
						b.Fatal(err)
					}
					s = *m.Stats()
					if err := m.Close(); err != nil {
						b.Fatal(err)
					}
				}
				b.SetBytes(s.BodyBytes)
				b.ReportMetric(float64(s.Compile.Wall.Microseconds()), "compile-µs")
				b.ReportMetric(float64(s.Link.Wall.Microseconds()), "link-µs")
				b.ReportMetric(float64(s.Publish.Wall.Microseconds()), "publish-µs")
				b.ReportMetric(float64(s.PaddingBytes)/float64(s.CodeBytes)*100, "padding-%")
			})
		}
	}
}

// BenchmarkFirstLookup measures making the sorted list of 200,000 functions.
func BenchmarkFirstLookup(b *testing.B) {
	dm := fakeModule(0, mixedSizes(200_000)...)
	m := mustBuild(b, dm, Options{Arena: testArena(b, 1<<30)}, func(c *fake, fn uint32) error {
		c.nop(20)
		return nil
	})
	for b.Loop() {
		sortedBy(m.entries)
	}
}

// BenchmarkModule compiles the module file that WASMJIT_BENCH_MODULE names, or
// a synthetic one of Unity's shape, with one worker. scripts/pgo.sh profiles it.
func BenchmarkModule(b *testing.B) {
	bytes := synth.Module(synth.Unity())
	if name := os.Getenv("WASMJIT_BENCH_MODULE"); name != "" && name != "synthetic" {
		var err error
		if bytes, err = os.ReadFile(name); err != nil {
			b.Fatal(err)
		}
	}
	b.SetBytes(int64(len(bytes)))
	for b.Loop() {
		dm, err := decoder.Decode(bytes)
		if err != nil {
			b.Fatal(err)
		}
		m, err := Compile(context.Background(), dm, Options{Workers: 1, Liftoff: liftoff.Options{CPU: liftoff.HostCPU()}})
		if err != nil {
			b.Fatal(err)
		}
		if err := m.Close(); err != nil {
			b.Fatal(err)
		}
	}
}
