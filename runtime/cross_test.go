//go:build linux

package runtime

import (
	"context"
	"errors"
	"os"
	goruntime "runtime"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
	"github.com/wasmjit/wasmjit/nativemodule"
)

// adder makes a module that adds a byte of its memory to its argument: code
// that shows whose instance it runs in.
func adder(b byte) *wasmtest.Module {
	m := wasmtest.New()
	m.Memory(1, 1)
	m.Data(100, []byte{b})
	m.Func("add", m.Type(types(decoder.I32), types(decoder.I32)), nil, code(func(c *wasmtest.Code) { c.Get(0).I32(100).Load(0x2d, 0).Op(0x6a) }))
	return m
}

func TestCrossInstance(t *testing.T) {
	s := newStore(t, Config{})
	a, b := start(t, s, adder(1), nil), start(t, s, adder(20), nil)
	m := wasmtest.New()
	typ := m.Type(types(decoder.I32), types(decoder.I32))
	m.ImportFunc("a", "add", typ)
	m.ImportFunc("b", "add", typ)
	m.Memory(1, 1)
	m.Data(100, []byte{44})
	tab := m.Table(decoder.FuncRef, 3, 3)
	m.Elem(tab, 0, 0, 1, 2)
	m.Func("own", typ, nil, code(func(c *wasmtest.Code) { c.Get(0).I32(100).Load(0x2d, 0).Op(0x6a) }))
	// own memory, a's, own, b's, own through the table.
	m.Func("run", typ, nil, code(func(c *wasmtest.Code) {
		c.Get(0).Call(2).Call(0).Call(2).Call(1)
		for k := range int32(3) {
			c.I32(k).OpU(0x11, typ, tab)
		}
		c.I32(100).Load(0x2d, 0).Op(0x6a)
	}))
	c := start(t, s, m, Imports{"a": {"add": a.Func("add")}, "b": {"add": b.Func("add")}})
	if out := mustCall(t, c.Func("run"), 1000); out[0] != 1000+44+1+44+20+1+20+44+44 {
		t.Errorf("result %d", out[0])
	}
	// The same record in another instance's table.
	ref := s.FuncRef(c.Func("own"))
	user := wasmtest.New()
	typ = user.Type(types(decoder.I32), types(decoder.I32))
	tab = user.Table(decoder.FuncRef, 1, 1)
	user.Export("t", decoder.ExternTable, tab)
	user.Func("run", typ, nil, code(func(c *wasmtest.Code) { c.Get(0).I32(0).OpU(0x11, typ, tab) }))
	d := start(t, s, user, nil)
	d.Table("t").Set(0, ref)
	if out := mustCall(t, d.Func("run"), 5); out[0] != 49 {
		t.Errorf("result %d", out[0])
	}
}

// A function in a foreign table outlives its instance's and module's close;
// so do the memory it uses and what it imports.
func TestTableOutlivesClose(t *testing.T) {
	s := newStore(t, Config{})
	owner := wasmtest.New()
	typ := owner.Type(types(decoder.I32), types(decoder.I32))
	tab := owner.Table(decoder.FuncRef, 4, 4)
	owner.Export("t", decoder.ExternTable, tab)
	owner.Func("run", owner.Type(types(decoder.I32, decoder.I32), types(decoder.I32)), nil, code(func(c *wasmtest.Code) { c.Get(0).Get(1).OpU(0x11, typ, tab) }))
	o := start(t, s, owner, nil)

	base := start(t, s, adder(3), nil)
	m := wasmtest.New()
	typ = m.Type(types(decoder.I32), types(decoder.I32))
	m.ImportFunc("base", "add", typ)
	m.ImportTable("o", "t", decoder.FuncRef, 4)
	m.Memory(1, 1)
	m.Data(100, []byte{10})
	m.Func("", typ, nil, code(func(c *wasmtest.Code) { c.Get(0).Call(0).I32(100).Load(0x2d, 0).Op(0x6a) }))
	m.Elem(0, 1, 1, 0)
	mod := load(t, s, m.Bytes())
	i, err := s.Instantiate(bg, mod, Imports{"base": {"add": base.Func("add")}, "o": {"t": o.Table("t")}})
	if err != nil {
		t.Fatal(err)
	}
	i.Close()
	base.Close()
	mod.Close()
	base.Module().Close()
	if s.Kept() != 2 {
		t.Errorf("%d instances kept, want 2", s.Kept())
	}
	for range 3 {
		if out := mustCall(t, o.Func("run"), 100, 1); out[0] != 113 {
			t.Errorf("entry 1 gives %d", out[0])
		}
		if out := mustCall(t, o.Func("run"), 100, 2); out[0] != 103 {
			t.Errorf("entry 2 gives %d", out[0])
		}
	}
	// What Go gets out of the table is the function itself.
	ref, _ := o.Table("t").Get(2)
	if f := s.FuncOf(ref); f == nil || mustCall(t, f, 1)[0] != 4 {
		t.Error("entry 2 isn't base's function")
	}
	f := s.FuncOf(ref)
	s.Close()
	if _, err := f.Call(bg, 1); !errors.Is(err, errClosed) {
		t.Errorf("call after the store's close: %v", err)
	}
}

// Closing in the middle of a call frees nothing before the call returns.
func TestCloseDuringCall(t *testing.T) {
	for _, whole := range []bool{false, true} {
		s := newStore(t, Config{})
		var i *Instance
		var mod *nativemodule.Module
		closer, err := s.WrapFunc(func(ctx context.Context, caller *Instance) error {
			f := caller.Func("run")
			if whole {
				s.Close()
			} else {
				i.Close()
			}
			mod.Close()
			if _, err := f.Call(ctx, 1); !errors.Is(err, errClosed) {
				t.Errorf("a call started after close: %v", err)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		m := wasmtest.New()
		m.ImportFunc("env", "close", m.Type(nil, nil))
		m.Memory(1, 1)
		m.Data(100, []byte{9})
		m.Func("run", m.Type(types(decoder.I32), types(decoder.I32)), nil, code(func(c *wasmtest.Code) { c.Call(0).I32(100).Load(0x2d, 0).Get(0).Op(0x6a) }))
		mod = load(t, s, m.Bytes())
		if i, err = s.Instantiate(bg, mod, Imports{"env": {"close": closer}}); err != nil {
			t.Fatal(err)
		}
		if out := mustCall(t, i.Func("run"), 1); out[0] != 10 {
			t.Errorf("result %d", out[0])
		}
		if n := len(s.instances); n != 0 {
			t.Errorf("%d instances left", n)
		}
	}
}

// Goroutines call an instance, and import from it, while it is closed.
func TestCloseConcurrently(t *testing.T) {
	s := newStore(t, Config{})
	m := wasmtest.New()
	m.ImportFunc("a", "add", m.Type(types(decoder.I32), types(decoder.I32)))
	m.Export("again", decoder.ExternFunc, 0)
	importer := load(t, s, m.Bytes())
	bin := load(t, s, adder(5).Bytes())
	for n := range 50 {
		a, err := s.Instantiate(bg, bin, nil)
		if err != nil {
			t.Fatal(err)
		}
		f := a.Func("add")
		var wg sync.WaitGroup
		var started, users atomic.Int64
		for range 3 {
			wg.Go(func() {
				for {
					out, err := f.Call(bg, 1)
					started.Add(1)
					if errors.Is(err, errClosed) {
						return
					}
					if err != nil || out[0] != 6 {
						t.Errorf("result %d, %v", out, err)
						return
					}
					if started.Load() > 1<<20 {
						return
					}
				}
			})
		}
		if n%2 == 0 {
			wg.Go(func() {
				i, err := s.Instantiate(bg, importer, Imports{"a": {"add": f}})
				var link *LinkError
				switch {
				case err == nil:
					// a is kept, and stays callable.
					users.Add(1)
					if out := mustCall(t, i.Func("again"), 2); out[0] != 7 {
						t.Errorf("result %d", out[0])
					}
					started.Add(1 << 21)
				case !errors.As(err, &link):
					t.Error(err)
				}
			})
		}
		for started.Load() < 10 {
			goruntime.Gosched()
		}
		a.Close()
		wg.Wait()
		if users.Load() == 0 {
			if _, there := s.instances[a]; there {
				t.Error("a closed instance without users is left")
			}
		}
	}
}

// The store's close waits with freeing for calls on other goroutines, and
// lets no new one in.
func TestStoreCloseDuringCall(t *testing.T) {
	s := newStore(t, Config{})
	entered := make(chan bool)
	proceed := make(chan bool)
	host, err := s.WrapFunc(func() {
		entered <- true
		<-proceed
	})
	if err != nil {
		t.Fatal(err)
	}
	i := start(t, s, looper(), Imports{"env": {"host": host}})
	done := make(chan error)
	go func() {
		_, err := i.Call(bg, "host")
		done <- err
	}()
	<-entered
	mem := i.Memory("m")
	s.Close()
	if len(mem.Bytes()) != PageSize {
		t.Error("memory freed under a running call")
	}
	if _, err := i.Call(bg, "host"); !errors.Is(err, errClosed) {
		t.Errorf("a call started after the store's close: %v", err)
	}
	if _, err := s.Instantiate(bg, i.Module(), nil); !errors.Is(err, errStoreClosed) {
		t.Errorf("instantiated after the store's close: %v", err)
	}
	proceed <- true
	if err := <-done; err != nil {
		t.Error(err)
	}
	if mem.Bytes() != nil || len(s.instances) != 0 {
		t.Error("the last call freed nothing")
	}
}

// A function whose reference Go code was given outlives its instance's close,
// whatever way the reference came.
func TestReferenceKeeps(t *testing.T) {
	for _, way := range []string{"argument", "result", "table", "global", "FuncRef", "none"} {
		s := newStore(t, Config{})
		var f *Func
		host, err := s.WrapFunc(func(x *Func) { f = x })
		if err != nil {
			t.Fatal(err)
		}
		m := wasmtest.New()
		none := m.Type(nil, nil)
		typ := m.Type(types(decoder.I32), types(decoder.I32))
		m.ImportFunc("env", "host", m.Type(types(decoder.FuncRef), nil))
		m.Memory(1, 1)
		m.Data(100, []byte{7})
		tab := m.Table(decoder.FuncRef, 1, 1)
		m.Export("t", decoder.ExternTable, tab)
		glob := m.Global(decoder.FuncRef, 0)
		m.Export("g", decoder.ExternGlobal, glob)
		add := m.Func("add", typ, nil, code(func(c *wasmtest.Code) { c.Get(0).I32(100).Load(0x2d, 0).Op(0x6a) }))
		ref := func(c *wasmtest.Code) *wasmtest.Code { return c.OpU(0xd2, add) }
		m.Func("argument", none, nil, code(func(c *wasmtest.Code) { ref(c).Call(0) }))
		m.Func("result", m.Type(nil, types(decoder.FuncRef)), nil, code(func(c *wasmtest.Code) { ref(c) }))
		m.Func("table", none, nil, code(func(c *wasmtest.Code) { ref(c.I32(0)).OpU(0x26, tab) }))
		m.Func("global", none, nil, code(func(c *wasmtest.Code) { ref(c).OpU(0x24, glob) }))
		i := start(t, s, m, Imports{"env": {"host": host}})
		switch way {
		case "argument":
			mustCall(t, i.Func(way))
		case "result":
			f = s.FuncOf(mustCall(t, i.Func(way))[0])
		case "table":
			mustCall(t, i.Func(way))
			ref, _ := i.Table("t").Get(0)
			f = s.FuncOf(ref)
		case "global":
			mustCall(t, i.Func(way))
			f = s.FuncOf(i.Global("g").Get())
		case "FuncRef":
			f = s.FuncOf(s.FuncRef(i.Func("add")))
		}
		if way != "none" && f != i.Func("add") {
			t.Errorf("%s: another function came out", way)
			continue
		}
		f = i.Func("add")
		i.Close()
		out, err := f.Call(bg, 1)
		if way == "none" {
			if !errors.Is(err, errClosed) || s.Kept() != 0 {
				t.Errorf("an unreferenced function was called after close: %v", err)
			}
		} else if err != nil || out[0] != 8 || s.Kept() != 1 {
			t.Errorf("%s: %d, %v; %d kept", way, out, err, s.Kept())
		}
	}
}

func status(t *testing.T, key string) int {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Fatal(err)
	}
	for _, line := range strings.Split(string(b), "\n") {
		if f := strings.Fields(line); len(f) > 1 && f[0] == key {
			n, err := strconv.Atoi(f[1])
			if err != nil {
				t.Fatal(err)
			}
			return n
		}
	}
	t.Fatalf("no %s in /proc/self/status", key)
	return 0
}

func mappings(t *testing.T) int {
	b, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	return strings.Count(string(b), "\n")
}

// A thousand modules and instances come and go in one store; mappings and
// resident memory don't grow.
func TestOpenClose(t *testing.T) {
	s := newStore(t, Config{})
	bin := adder(5).Bytes()
	round := func() {
		d, err := decoder.Decode(bin)
		if err != nil {
			t.Fatal(err)
		}
		mod, err := nativemodule.Compile(bg, d, nativemodule.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		i, err := s.Instantiate(bg, mod, nil)
		if err != nil {
			t.Fatal(err)
		}
		if out := mustCall(t, i.Func("add"), 1); out[0] != 6 {
			t.Fatalf("result %d", out[0])
		}
		if err := mod.Close(); err != nil {
			t.Fatal(err)
		}
		i.Close()
	}
	for range 200 {
		round()
	}
	maps, rss := mappings(t), status(t, "VmRSS:")
	for range 1000 {
		round()
	}
	if n := mappings(t); n > maps+20 {
		t.Errorf("%d mappings after 1,000 modules, %d before", n, maps)
	}
	if n := status(t, "VmRSS:"); n > rss+32<<10 {
		t.Errorf("%d KiB resident after 1,000 modules, %d before", n, rss)
	}
	if s.Kept() != 0 || len(s.instances) != 0 {
		t.Errorf("%d instances left", len(s.instances))
	}
}
