// Package native is the compiler with its runtime as an engine.Engine.
package native

import (
	"context"
	"errors"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/engine"
	"github.com/wasmjit/wasmjit/internal/testenv"
	"github.com/wasmjit/wasmjit/liftoff"
	"github.com/wasmjit/wasmjit/nativemodule"
	"github.com/wasmjit/wasmjit/runtime"
)

// Engine runs compiled modules in one runtime.Store.
type Engine struct {
	store *runtime.Store
	mode  testenv.Mode
	insts []*runtime.Instance
}

var _ engine.Engine = (*Engine)(nil)

// New makes an engine with an empty store in the mode of the test run.
func New(mode testenv.Mode) (*Engine, error) {
	c := runtime.Config{Bounds: liftoff.BoundsGuard}
	if mode.ExplicitBounds {
		c.Bounds = liftoff.BoundsExplicit
	}
	s, err := runtime.NewStore(c)
	if err != nil {
		return nil, err
	}
	return &Engine{store: s, mode: mode}, nil
}

// Name implements engine.Engine.
func (e *Engine) Name() string { return "liftoff" }

// Close implements engine.Engine.
func (e *Engine) Close() error { return e.store.Close() }

type module struct {
	*nativemodule.Module
}

// Compile implements engine.Engine.
func (e *Engine) Compile(bin []byte) (engine.Module, error) {
	m, err := decoder.Decode(bin)
	if err != nil {
		return nil, engine.DecodeFailure(err)
	}
	return e.CompileModule(m)
}

// CompileModule compiles a decoded module.
func (e *Engine) CompileModule(m *decoder.Module) (engine.Module, error) {
	o := nativemodule.Options{
		Workers: e.mode.Workers,
		Liftoff: liftoff.Options{
			Bounds:       e.store.Bounds(),
			Reference:    e.mode.Reference,
			FewRegisters: e.mode.FewRegisters,
		},
	}
	if !e.mode.BaselineCPU {
		o.Liftoff.CPU = liftoff.HostCPU()
	}
	n, err := nativemodule.Compile(context.Background(), m, o)
	if err != nil {
		return nil, engine.DecodeFailure(err)
	}
	return module{n}, nil
}

// host is a Go-made module.
type host map[string]runtime.Extern

// Export implements engine.Exporter.
func (h host) Export(name string) engine.Extern {
	if x, ok := h[name]; ok {
		return x
	}
	return nil
}

// Host implements engine.Engine.
func (e *Engine) Host(h *engine.HostModule) (engine.Exporter, error) {
	x := host{}
	for name, f := range h.Funcs {
		fn := f.Fn
		x[name] = e.store.NewFunc(f.Type, func(_ context.Context, _ *runtime.Instance, stack []uint64) error {
			return fn(stack)
		})
	}
	for name, g := range h.Globals {
		x[name] = e.store.NewGlobal(g.Type, g.Bits)
	}
	for name, t := range h.Tables {
		nt, err := e.store.NewTable(t, 0)
		if err != nil {
			return nil, err
		}
		x[name] = nt
	}
	for name, m := range h.Memories {
		nm, err := e.store.NewMemory(m)
		if err != nil {
			return nil, err
		}
		x[name] = nm
	}
	return x, nil
}

// Instantiate implements engine.Engine.
func (e *Engine) Instantiate(m engine.Module, imports engine.Resolver) (engine.Instance, error) {
	n := m.(module).Module
	given := runtime.Imports{}
	for _, imp := range n.Decoded().Imports {
		x, ok := imports(imp.Module, imp.Name).(runtime.Extern)
		if !ok {
			continue
		}
		if given[imp.Module] == nil {
			given[imp.Module] = map[string]runtime.Extern{}
		}
		given[imp.Module][imp.Name] = x
	}
	in, err := e.store.Instantiate(context.Background(), n, given)
	if err != nil {
		return nil, failure(err)
	}
	e.insts = append(e.insts, in)
	return instance{in}, nil
}

// failure classifies an error of the runtime.
func failure(err error) error {
	f := &engine.Failure{Stage: engine.Broken, Msg: err.Error(), Err: err}
	var trap *runtime.Trap
	var link *runtime.LinkError
	switch {
	case errors.As(err, &trap):
		f.Stage, f.Msg = engine.Trapped, trap.Kind.String()
		if f.Msg == "call stack exhausted" || f.Msg == "stack overflow" {
			f.Stage = engine.Exhausted
		}
	case errors.As(err, &link):
		f.Stage = engine.Unlinkable
	}
	return f
}

// ExternRef implements engine.Engine.
func (e *Engine) ExternRef(n uint64) uint64 { return e.store.NewExternRef(n) }

// ExternValue implements engine.Engine.
func (e *Engine) ExternValue(ref uint64) (uint64, bool) {
	n, ok := e.store.ExternValue(ref).(uint64)
	return n, ok
}

type instance struct {
	*runtime.Instance
}

// Export implements engine.Exporter.
func (in instance) Export(name string) engine.Extern {
	if x := in.Instance.Export(name); x != nil {
		return x
	}
	return nil
}

// Func implements engine.Instance.
func (in instance) Func(name string) engine.Func {
	if f := in.Instance.Func(name); f != nil {
		return callable{f}
	}
	return nil
}

// Global implements engine.Instance.
func (in instance) Global(name string) (engine.Value, bool) {
	g, ok := in.Instance.Export(name).(*runtime.Global)
	if !ok {
		return engine.Value{}, false
	}
	return engine.Value{Type: g.Type().Type, Lo: g.Get()}, true
}

// Memory implements engine.Instance.
func (in instance) Memory(name string) []byte {
	if m := in.Instance.Memory(name); m != nil {
		return m.Bytes()
	}
	return nil
}

type callable struct {
	*runtime.Func
}

// Call implements engine.Func.
func (c callable) Call(args ...uint64) ([]uint64, error) {
	res, err := c.Func.Call(context.Background(), args...)
	if err != nil {
		return nil, failure(err)
	}
	return res, nil
}
