//go:build linux

package runtime

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
	"github.com/wasmjit/wasmjit/liftoff"
	"github.com/wasmjit/wasmjit/nativemodule"
)

// load decodes and compiles a module for a store.
func load(t testing.TB, s *Store, bin []byte) *nativemodule.Module {
	t.Helper()
	d, err := decoder.Decode(bin)
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, s, d)
}

// start loads and instantiates a module.
func start(t testing.TB, s *Store, m *wasmtest.Module, imports Imports) *Instance {
	t.Helper()
	i, err := s.Instantiate(bg, load(t, s, m.Bytes()), imports)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// code writes a function body.
func code(f func(c *wasmtest.Code)) wasmtest.Code {
	var c wasmtest.Code
	f(&c)
	return c
}

// named appends a name section.
func named(bin []byte, module string, funcs ...string) []byte {
	str := func(b []byte, s string) []byte { return append(wasmtest.AppendU(b, uint64(len(s))), s...) }
	section := func(b []byte, id byte, body []byte) []byte {
		return append(wasmtest.AppendU(append(b, id), uint64(len(body))), body...)
	}
	body := section(str(nil, "name"), 0, str(nil, module))
	names := wasmtest.AppendU(nil, uint64(len(funcs)))
	for i, f := range funcs {
		names = str(wasmtest.AppendU(names, uint64(i)), f)
	}
	return section(slices.Clone(bin), 0, section(body, 1, names))
}

func mustCall(t testing.TB, f *Func, args ...uint64) []uint64 {
	t.Helper()
	out, err := f.Call(bg, args...)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestFarCalls runs code whose direct calls take the form of huge modules.
func TestFarCalls(t *testing.T) {
	m := wasmtest.New()
	ft := m.Type(types(decoder.I64), types(decoder.I64))
	// fib(n) = n < 2 ? n : fib(n-1) + fib(n-2)
	m.Func("fib", ft, nil, code(func(c *wasmtest.Code) {
		c.Get(0).Const(decoder.I64, 2).Op(0x54).Block(0x04, wasmtest.Result(decoder.I64)).Get(0).Op(0x05)
		c.Get(0).Const(decoder.I64, 1).Op(0x7d).Call(0).Get(0).Const(decoder.I64, 2).Op(0x7d).Call(0).Op(0x7c).End()
	}))
	d, err := decoder.Decode(m.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	s := newStore(t, Config{})
	mod, err := nativemodule.Compile(bg, d, nativemodule.Options{Liftoff: liftoff.Options{FarCalls: true, Bounds: s.Bounds()}})
	if err != nil {
		t.Fatal(err)
	}
	defer mod.Close()
	i, err := s.Instantiate(bg, mod, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer i.Close()
	if out := mustCall(t, i.Func("fib"), 20); out[0] != 6765 {
		t.Errorf("fib(20) = %d", out[0])
	}
}

func TestCall(t *testing.T) {
	eachBounds(t, func(t *testing.T, s *Store) {
		m := wasmtest.New()
		// The last parameter first: results come out in another order than
		// they went in.
		many := types(decoder.I32, decoder.I64, decoder.F32, decoder.F64, decoder.I32, decoder.I64, decoder.ExternRef,
			decoder.F64, decoder.F64, decoder.F64, decoder.F64, decoder.F64, decoder.F64, decoder.F32, decoder.I32)
		back := slices.Clone(many)
		slices.Reverse(back)
		m.Func("reverse", m.Type(many, back), nil, code(func(c *wasmtest.Code) {
			for k := len(many) - 1; k >= 0; k-- {
				c.Get(uint32(k))
			}
		}))
		m.Func("add", m.Type(types(decoder.I32, decoder.I32), types(decoder.I32)), nil, code(func(c *wasmtest.Code) { c.Get(0).Get(1).Op(0x6a) }))
		i := start(t, s, m, nil)
		args := make([]uint64, len(many))
		for k := range args {
			args[k] = 0x1111_2222_3333_4444 * uint64(k+1)
		}
		var want []uint64
		for k := len(many) - 1; k >= 0; k-- {
			want = append(want, narrow(many[k], args[k]))
		}
		if got := mustCall(t, i.Func("reverse"), args...); !slices.Equal(got, want) {
			t.Errorf("%x, want %x", got, want)
		}
		if got := mustCall(t, i.Func("add"), 0xffff_ffff_ffff_ffff, 2); got[0] != 1 {
			t.Errorf("-1 + 2 = %#x", got[0])
		}
		stack := []uint64{3, 4}
		f := i.Func("add")
		if err := f.CallStack(bg, stack); err != nil || stack[0] != 7 {
			t.Errorf("3 + 4 = %d, %v", stack[0], err)
		}
		if n := testing.AllocsPerRun(100, func() { f.CallStack(bg, stack) }); n != 0 {
			t.Errorf("%v allocations per call", n)
		}
	})
}

func TestMemoryAccess(t *testing.T) {
	eachBounds(t, func(t *testing.T, s *Store) {
		m := wasmtest.New()
		m.Export("m", decoder.ExternMemory, m.Memory(1, 3))
		m.Func("load", m.Type(types(decoder.I32), types(decoder.I32)), nil, code(func(c *wasmtest.Code) { c.Get(0).Load(0x28, 0) }))
		m.Func("far", m.Type(types(decoder.I32), types(decoder.I32)), nil, code(func(c *wasmtest.Code) { c.Get(0).Load(0x28, 0xffffffff) }))
		m.Func("store", m.Type(types(decoder.I32, decoder.I64), nil), nil, code(func(c *wasmtest.Code) { c.Get(0).Get(1).Store(0x37, 0) }))
		m.Func("grow", m.Type(types(decoder.I32), types(decoder.I32)), nil, code(func(c *wasmtest.Code) { c.Get(0).Op(0x40, 0) }))
		m.Func("size", m.Type(nil, types(decoder.I32)), nil, code(func(c *wasmtest.Code) { c.Op(0x3f, 0) }))
		i := start(t, s, m, nil)
		call := func(name string, args ...uint64) (uint64, TrapKind) {
			t.Helper()
			out, err := i.Call(bg, name, args...)
			var trap *Trap
			if errors.As(err, &trap) {
				return 0, trap.Kind
			}
			if err != nil {
				t.Fatal(err)
			}
			if len(out) == 0 {
				return 0, 0
			}
			return out[0], 0
		}
		check := func(name string, want uint64, trap TrapKind, args ...uint64) {
			t.Helper()
			if got, kind := call(name, args...); got != want || kind != trap {
				t.Errorf("%s(%d) = %d, trap %d; want %d, trap %d", name, args, got, kind, want, trap)
			}
		}
		const oob = TrapMemoryOutOfBounds
		check("store", 0, 0, 65528, 1<<32|2)
		check("store", 0, oob, 65529, 1)
		check("load", 2, 0, 65528)
		check("load", 1, 0, 65532)
		for _, at := range []uint64{65533, 65536, 1 << 20, 1<<31 - 1, 1 << 31, 1<<32 - 1} {
			check("load", 0, oob, at)
		}
		for _, at := range []uint64{0, 1, 65536, 1<<32 - 1} {
			check("far", 0, oob, at)
		}
		check("load", 2, 0, 1<<32|65528) // the upper half of an argument is ignored
		check("grow", 1, 0, 1)
		check("size", 2, 0)
		check("load", 0, 0, 65536)
		check("load", 0, oob, 2*65536-3)
		check("grow", 1<<32-1, 0, 2)
		check("grow", 1<<32-1, 0, 1<<32-1)
		check("grow", 2, 0, 1)
		check("grow", 3, 0, 0)
		check("load", 0, 0, 3*65536-4)
		if b := i.Memory("m").Bytes(); len(b) != 3*65536 || b[65528] != 2 {
			t.Error("Go sees another memory")
		}
	})
}

func TestHostCalls(t *testing.T) {
	s := newStore(t, Config{})
	var i *Instance
	var seen []string
	put, err := s.WrapFunc(func(caller *Instance, at, n int32) error {
		if caller != i {
			return fmt.Errorf("caller is %p, not %p", caller, i)
		}
		seen = append(seen, string(caller.Memory("m").Bytes()[at:at+n]))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	// Guest, host, guest, … down to zero.
	down, err := s.WrapFunc(func(ctx context.Context, caller *Instance, n int32) (int32, error) {
		if n == 0 {
			return 0, nil
		}
		out, err := caller.Call(ctx, "down", uint64(n-1))
		if err != nil {
			return 0, err
		}
		return int32(out[0]) + n, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	m := wasmtest.New()
	m.ImportFunc("env", "put", m.Type(types(decoder.I32, decoder.I32), nil))
	one := m.Type(types(decoder.I32), types(decoder.I32))
	m.ImportFunc("env", "down", one)
	m.Export("m", decoder.ExternMemory, m.Memory(1, 1))
	m.Data(8, []byte("hello, world"))
	m.Func("run", m.Type(nil, nil), nil, code(func(c *wasmtest.Code) { c.I32(8).I32(5).Call(0).I32(15).I32(5).Call(0) }))
	m.Func("down", one, types(decoder.I64), code(func(c *wasmtest.Code) {
		// A local lives across the call.
		c.Get(0).Op(0xac).Set(1).Get(0).Call(1).Get(1).Op(0xa7).Op(0x6a)
	}))
	i = start(t, s, m, Imports{"env": {"put": put, "down": down}})
	mustCall(t, i.Func("run"))
	if !slices.Equal(seen, []string{"hello", "world"}) {
		t.Errorf("saw %q", seen)
	}
	const n = 500
	if out := mustCall(t, i.Func("down"), n); out[0] != n*(n+1) {
		t.Errorf("down(%d) = %d, want %d", n, out[0], n*(n+1))
	}
	// Without an end it is the guest's stack that overflows.
	var trap *Trap
	if _, err := i.Call(bg, "down", 1<<31-1); !errors.As(err, &trap) || trap.Kind != TrapStackOverflow {
		t.Errorf("endless mutual recursion: %v", err)
	}
	if out := mustCall(t, i.Func("down"), 3); out[0] != 12 {
		t.Errorf("down(3) = %d after an overflow", out[0])
	}
}

func TestStartFunction(t *testing.T) {
	s := newStore(t, Config{})
	g := s.NewGlobal(decoder.GlobalType{Type: decoder.I32, Mutable: true}, 1)
	m := wasmtest.New()
	m.ImportGlobal("env", "g", decoder.I32, true)
	m.Start(m.Func("", m.Type(nil, nil), nil, code(func(c *wasmtest.Code) { c.I32(7).OpU(0x24, 0) })))
	start(t, s, m, Imports{"env": {"g": g}})
	if g.Get() != 7 {
		t.Errorf("the start function left %d", g.Get())
	}
	m = wasmtest.New()
	m.Start(m.Func("", m.Type(nil, nil), nil, code(func(c *wasmtest.Code) { c.Op(0x00) })))
	var trap *Trap
	if _, err := s.Instantiate(bg, load(t, s, m.Bytes()), nil); !errors.As(err, &trap) || trap.Kind != TrapUnreachable || len(trap.Frames) != 1 {
		t.Errorf("error %v", err)
	}
	if len(s.instances) != 1 {
		t.Errorf("%d instances, want the one that started", len(s.instances))
	}
}

// Guarded code must not run in a store whose memories have no guard.
func TestBoundsMismatch(t *testing.T) {
	s := newStore(t, Config{Bounds: liftoff.BoundsExplicit})
	d := &decoder.Module{Memories: []decoder.MemoryType{{Limits: atLeast(1)}}}
	m, err := nativemodule.Compile(bg, d, nativemodule.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if _, err := s.Instantiate(bg, m, nil); err == nil || !strings.Contains(err.Error(), "guarded memories") {
		t.Errorf("error %v", err)
	}
}
