package matrix

import (
	"testing"

	"github.com/wasmjit/wasmjit/internal/engine"
	"github.com/wasmjit/wasmjit/internal/engine/native"
	"github.com/wasmjit/wasmjit/internal/refinterp"
	"github.com/wasmjit/wasmjit/internal/testenv"
)

// open makes an engine for one test.
type open func(t *testing.T) engine.Engine

// liftoff makes the compiler's engine in a mode.
func liftoff(mode testenv.Mode) open {
	return func(t *testing.T) engine.Engine {
		e, err := native.New(mode)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			if err := e.Close(); err != nil {
				t.Errorf("closing the store: %v", err)
			}
		})
		return e
	}
}

// forEngines runs a test on the compiler, in the modes that find most, and on
// the reference interpreter: if that fails too, the test is wrong.
func forEngines(t *testing.T, f func(t *testing.T, open open)) {
	mode := testenv.Get(t)
	t.Run("liftoff", func(t *testing.T) { f(t, liftoff(mode)) })
	if mode.Default() {
		for _, m := range testenv.Others()[:1] {
			t.Run(m.String(), func(t *testing.T) { f(t, liftoff(m)) })
		}
	}
	t.Run("reference", func(t *testing.T) {
		f(t, func(*testing.T) engine.Engine { return refinterp.New(0) })
	})
}

// instantiate makes an instance of a generated module, which may import the
// host module and others.
func instantiate(t *testing.T, e engine.Engine, bin []byte, others map[string]engine.Exporter) engine.Instance {
	t.Helper()
	in, err := tryInstantiate(e, bin, others)
	if err != nil {
		t.Fatalf("a generated module: %v", err)
	}
	return in
}

func tryInstantiate(e engine.Engine, bin []byte, others map[string]engine.Exporter) (engine.Instance, error) {
	m, err := e.Compile(bin)
	if err != nil {
		return nil, err
	}
	host, err := e.Host(hostModule())
	if err != nil {
		return nil, err
	}
	return e.Instantiate(m, func(module, name string) engine.Extern {
		if x, ok := others[module]; ok {
			return x.Export(name)
		}
		if module == "host" {
			return host.Export(name)
		}
		return nil
	})
}
