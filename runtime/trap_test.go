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
)

// One function per kind of trap; the frames name function and offset.
func TestTraps(t *testing.T) {
	s := newStore(t, Config{})
	m := wasmtest.New()
	m.Memory(1, 1)
	tab := m.Table(decoder.FuncRef, 3, 3)
	none := m.Type(nil, nil)
	takes := m.Type(types(decoder.I32), nil)
	type row struct {
		kind TrapKind
		at   int // of the opcode, counted in bytes from the end of the body's code
		body func(c *wasmtest.Code)
	}
	indirect := func(k int32) func(c *wasmtest.Code) {
		return func(c *wasmtest.Code) { c.I32(k).OpU(0x11, none, tab) }
	}
	rows := []row{
		{TrapUnreachable, 1, func(c *wasmtest.Code) { c.Op(0x00) }},
		{TrapDivideByZero, 2, func(c *wasmtest.Code) { c.I32(1).I32(0).Op(0x6d).Op(0x1a) }},
		{TrapDivideByZero, 2, func(c *wasmtest.Code) { c.I64(1).I64(0).Op(0x82).Op(0x1a) }},
		{TrapIntegerOverflow, 2, func(c *wasmtest.Code) { c.I32(-1 << 31).I32(-1).Op(0x6d).Op(0x1a) }},
		{TrapIntegerOverflow, 2, func(c *wasmtest.Code) { c.Const(decoder.F64, 0x47efffffe0000000).Op(0xaa).Op(0x1a) }},
		{TrapInvalidConversion, 2, func(c *wasmtest.Code) { c.Const(decoder.F32, 0x7fc00000).Op(0xa8).Op(0x1a) }},
		{TrapMemoryOutOfBounds, 4, func(c *wasmtest.Code) { c.I32(-4).Load(0x28, 8).Op(0x1a) }},
		{TrapMemoryOutOfBounds, 3, func(c *wasmtest.Code) { c.I32(65535).I32(1).I32(2).OpU(0xfc0b, 0) }},
		{TrapTableOutOfBounds, 3, func(c *wasmtest.Code) { c.I32(3).OpU(0x25, tab).Op(0x1a) }},
		{TrapUndefinedElement, 3, indirect(3)},
		{TrapUninitializedElement, 3, indirect(2)},
		{TrapIndirectTypeMismatch, 3, indirect(1)},
	}
	var wantAt []int
	for k, r := range rows {
		body := code(r.body)
		m.Func(fmt.Sprint("f", k), none, nil, body)
	}
	other := m.Func("", takes, nil, nil)
	m.Elem(tab, 0, 0, other)
	outer := m.NextFunc()
	for k := range rows {
		m.Func(fmt.Sprint("call", k), none, nil, code(func(c *wasmtest.Code) { c.Call(uint32(k)).Op(0x01) }))
	}
	names := make([]string, int(outer)+len(rows))
	for k := range names {
		names[k] = fmt.Sprint("name", k)
	}
	bin := named(m.Bytes(), "traps", names...)
	mod := load(t, s, bin)
	for k, r := range rows {
		// The body ends with `end`.
		wantAt = append(wantAt, int(mod.Decoded().Bodies[k].End)-1-r.at)
	}
	i, err := s.Instantiate(bg, mod, nil)
	if err != nil {
		t.Fatal(err)
	}
	for k, r := range rows {
		_, err := i.Call(bg, fmt.Sprint("call", k))
		var trap *Trap
		if !errors.As(err, &trap) || trap.Kind != r.kind {
			t.Errorf("%d: %v, want %s", k, err, r.kind)
			continue
		}
		callAt := mod.Decoded().Bodies[int(outer)+k].End - 4
		want := []Frame{
			{uint32(k), names[k], uint32(wantAt[k]), "traps"},
			{outer + uint32(k), names[int(outer)+k], callAt, "traps"},
		}
		if !slices.Equal(trap.Frames, want) {
			t.Errorf("%d: frames %v, want %v", k, trap.Frames, want)
		}
		if want := fmt.Sprintf("trap: %s in function %d (name%d) of traps at offset 0x%x", r.kind, k, k, wantAt[k]); trap.Error() != want {
			t.Errorf("message %q, want %q", trap, want)
		}
		if lines := strings.Split(trap.Backtrace(), "\n"); len(lines) != 3 || !strings.HasPrefix(lines[1], "   1: function ") {
			t.Errorf("backtrace %q", lines)
		}
	}
}

func TestStackOverflow(t *testing.T) {
	for _, size := range []int{0, 100 << 10} {
		s := newStore(t, Config{StackSize: size})
		m := wasmtest.New()
		typ := m.Type(types(decoder.I32), types(decoder.I32))
		m.Func("small", typ, nil, code(func(c *wasmtest.Code) { c.Get(0).I32(1).Op(0x6a).Call(0).I32(1).Op(0x6a) }))
		// A frame over GuardProbe: 6,000 locals that live across a call.
		const n = 6000
		m.Func("large", typ, slices.Repeat(types(decoder.I64), n), code(func(c *wasmtest.Code) {
			for k := range uint32(n) {
				c.Get(0).Op(0xac).Set(k + 1)
			}
			c.Get(0).Call(1)
			for k := range uint32(n) {
				c.Get(k + 1).Op(0xa7).Op(0x6a)
			}
		}))
		i := start(t, s, m, nil)
		for _, name := range []string{"small", "large", "small"} {
			_, err := i.Call(bg, name, 1)
			var trap *Trap
			if !errors.As(err, &trap) || trap.Kind != TrapStackOverflow {
				t.Fatalf("%s: %v", name, err)
			}
			if len(trap.Frames) < 3 || len(trap.Frames) > maxFrames || trap.Frames[1].FuncIndex != trap.Frames[0].FuncIndex {
				t.Errorf("%s: %d frames: %v", name, len(trap.Frames), trap.Frames[:min(3, len(trap.Frames))])
			}
		}
	}
}

// A trap in a nested call comes out of the host function, which may handle it.
func TestNestedTrap(t *testing.T) {
	s := newStore(t, Config{})
	handle := true
	try, err := s.WrapFunc(func(ctx context.Context, caller *Instance) (int32, error) {
		_, err := caller.Call(ctx, "trap")
		var trap *Trap
		if !errors.As(err, &trap) {
			return 0, fmt.Errorf("nested call: %v", err)
		}
		if handle {
			return int32(trap.Kind), nil
		}
		return 0, err
	})
	if err != nil {
		t.Fatal(err)
	}
	m := wasmtest.New()
	result := m.Type(nil, types(decoder.I32))
	m.ImportFunc("env", "try", result)
	m.Func("trap", m.Type(nil, nil), nil, code(func(c *wasmtest.Code) { c.Op(0x00) }))
	m.Func("run", result, nil, code(func(c *wasmtest.Code) { c.Call(0).I32(100).Op(0x6a) }))
	i := start(t, s, m, Imports{"env": {"try": try}})
	if out := mustCall(t, i.Func("run")); out[0] != 100+uint64(TrapUnreachable) {
		t.Errorf("result %d", out[0])
	}
	handle = false
	var trap *Trap
	if _, err := i.Call(bg, "run"); !errors.As(err, &trap) || trap.Kind != TrapUnreachable {
		t.Errorf("error %v", err)
	}
}
