package refinterp

import (
	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/engine"
)

// Engine is the interpreter as an engine.Engine.
type Engine struct {
	Store
}

var _ engine.Engine = (*Engine)(nil)

// New makes an engine with an empty store. A positive fuel limits the
// instructions of all its calls together.
func New(fuel int64) *Engine {
	return &Engine{Store{Fuel: fuel, fueled: fuel > 0, MaxDepth: 10_000}}
}

// Name implements engine.Engine.
func (e *Engine) Name() string { return "reference interpreter" }

// Close implements engine.Engine.
func (e *Engine) Close() error { return nil }

// module is a decoded and validated module.
type module struct {
	m     *decoder.Module
	codes []*code
}

func (*module) Close() error { return nil }

// Compile implements engine.Engine.
func (e *Engine) Compile(bin []byte) (engine.Module, error) {
	m, err := decoder.Decode(bin)
	if err == nil {
		err = decoder.ValidateBodies(m, 1)
	}
	if err != nil {
		return nil, engine.DecodeFailure(err)
	}
	mod := &module{m: m}
	for i := range m.Bodies {
		c, err := decodeBody(m, i)
		if err != nil {
			return nil, &engine.Failure{Stage: engine.Broken, Msg: err.Error(), Err: err}
		}
		mod.codes = append(mod.codes, c)
	}
	return mod, nil
}

// Instantiate implements engine.Engine.
func (e *Engine) Instantiate(mod engine.Module, imports engine.Resolver) (engine.Instance, error) {
	m := mod.(*module)
	in := &instance{s: &e.Store, m: m.m}
	for i := range m.m.Imports {
		imp := &m.m.Imports[i]
		if x := imports(imp.Module, imp.Name); x == nil {
			return nil, &engine.Failure{Stage: engine.Unlinkable, Msg: "unknown import " + imp.Module + " " + imp.Name}
		} else if !in.link(imp, x) {
			return nil, &engine.Failure{Stage: engine.Unlinkable, Msg: "incompatible import type " + imp.Module + " " + imp.Name}
		}
	}
	in.allocate(m.codes)
	if err := in.initialise(); err != nil {
		return nil, err
	}
	return in, nil
}

// hostModule implements engine.Exporter for Go functions and values.
type hostModule map[string]any

// Export implements engine.Exporter.
func (h hostModule) Export(name string) engine.Extern { return h[name] }

// Host implements engine.Engine.
func (e *Engine) Host(h *engine.HostModule) (engine.Exporter, error) {
	x := hostModule{}
	for name, f := range h.Funcs {
		x[name] = e.newFunc(&function{ft: &f.Type, host: f.Fn})
	}
	for name, g := range h.Globals {
		x[name] = &global{g.Type, g.Bits}
	}
	for name, t := range h.Tables {
		x[name] = &table{t, make([]uint64, t.Min)}
	}
	for name, m := range h.Memories {
		x[name] = &memory{m, make([]byte, m.Min*pageSize)}
	}
	return x, nil
}

// ExternRef implements engine.Engine: host reference n is n+1, 0 being null.
func (e *Engine) ExternRef(n uint64) uint64 { return n + 1 }

// ExternValue implements engine.Engine.
func (e *Engine) ExternValue(ref uint64) (uint64, bool) { return ref - 1, ref != 0 }

// Export implements engine.Exporter.
func (in *instance) Export(name string) engine.Extern { return in.exports[name] }

// Func implements engine.Instance.
func (in *instance) Func(name string) engine.Func {
	if f, ok := in.exports[name].(*function); ok {
		return &callable{f, in.s}
	}
	return nil
}

// Global implements engine.Instance.
func (in *instance) Global(name string) (engine.Value, bool) {
	g, ok := in.exports[name].(*global)
	if !ok {
		return engine.Value{}, false
	}
	return engine.Value{Type: g.gt.Type, Lo: g.bits}, true
}

// Memory implements engine.Instance.
func (in *instance) Memory(name string) []byte {
	if m, ok := in.exports[name].(*memory); ok {
		return m.bytes
	}
	return nil
}

// callable is a function as an engine.Func.
type callable struct {
	f *function
	s *Store
}

// Type implements engine.Func.
func (c *callable) Type() *decoder.FuncType { return c.f.ft }

// Call implements engine.Func. The upper half of a 32-bit argument is
// ignored, as the runtime does.
func (c *callable) Call(args ...uint64) ([]uint64, error) {
	args = append([]uint64(nil), args...)
	for i, t := range c.f.ft.Params {
		if t == decoder.I32 || t == decoder.F32 {
			args[i] &= m32
		}
	}
	res, err := c.s.call(c.f, args)
	for i, t := range c.f.ft.Results {
		if err == nil && (t == decoder.I32 || t == decoder.F32) {
			res[i] &= m32
		}
	}
	return res, err
}
