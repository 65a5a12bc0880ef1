package nativemodule

import (
	"context"
	"encoding/binary"
	"testing"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
)

// The tests here drive the job with a compiler whose code, failures and sizes
// they choose, so that they can tell what the job did from what liftoff did.

// fakeModule has a body of each given size, and imports before them.
func fakeModule(imports int, sizes ...int) *decoder.Module {
	m := &decoder.Module{NumImportedFuncs: uint32(imports)}
	at := uint32(16)
	for _, n := range sizes {
		m.Bodies = append(m.Bodies, decoder.Body{Start: at, End: at + uint32(n)})
		at += uint32(n)
	}
	m.CodeStart, m.CodeEnd = 16, at
	m.Types = []decoder.FuncType{{}}
	m.Funcs = make([]uint32, imports+len(sizes))
	return m
}

// mixedSizes gives n body sizes with the long tail of real modules.
func mixedSizes(n int) []int {
	sizes := make([]int, n)
	for i := range sizes {
		sizes[i] = 10 + i*7919%400
		if i%97 == 0 {
			sizes[i] = 7000 + i
		}
	}
	return sizes
}

// fake is a compiler for amd64 that emits whatever emit says.
type fake struct {
	emit func(c *fake, fn uint32) error
	code liftoff.Code
}

func (c *fake) Compile(fn uint32) (*liftoff.Code, error) {
	c.code.Bytes = c.code.Bytes[:0]
	c.code.CallSites = c.code.CallSites[:0]
	c.code.Positions = nil
	if err := c.emit(c, fn); err != nil {
		return nil, err
	}
	return &c.code, nil
}

func (c *fake) CompilePositions(fn uint32) (*liftoff.Code, error) {
	code, err := c.Compile(fn)
	if err == nil {
		for _, s := range code.CallSites {
			code.Positions = append(code.Positions, liftoff.Position{Code: s + 4, Wasm: 100*fn + s})
		}
	}
	return code, err
}

// call emits a direct call.
func (c *fake) call(callee uint32) {
	c.code.Bytes = append(c.code.Bytes, 0xe8)
	c.code.CallSites = append(c.code.CallSites, uint32(len(c.code.Bytes)))
	c.code.Bytes = binary.LittleEndian.AppendUint32(c.code.Bytes, callee)
}

// op emits an opcode byte with a 32-bit immediate.
func (c *fake) op(b byte, imm uint32) {
	c.code.Bytes = binary.LittleEndian.AppendUint32(append(c.code.Bytes, b), imm)
}

func (c *fake) ret()      { c.code.Bytes = append(c.code.Bytes, 0xc3) }
func (c *fake) nop(n int) { c.code.Bytes = append(c.code.Bytes, nops[:n]...) }

var nops = func() []byte {
	b := make([]byte, 8<<20)
	for i := range b {
		b[i] = 0x90
	}
	return b
}()

// chain is an emitter: function fn calls two others, adds its own index to
// what the second gave and returns that; the functions below first return 1.
// Calls go to lower indices only, so that they end.
func chain(m *decoder.Module) func(c *fake, fn uint32) error {
	first := m.NumImportedFuncs
	return func(c *fake, fn uint32) error {
		body := m.Bodies[fn-first]
		if fn < first+8 {
			c.op(0xb8, 1) // mov eax, 1
		} else {
			c.call(first + (fn-first)%8)
			c.call(first + (fn-first)/2)
			c.op(0x05, fn) // add eax, fn
		}
		c.nop(int(body.End - body.Start))
		c.ret()
		return nil
	}
}

// chainResult is what function fn of chain returns.
func chainResult(m *decoder.Module, fn uint32) uint32 {
	first := m.NumImportedFuncs
	if fn < first+8 {
		return 1
	}
	return chainResult(m, first+(fn-first)/2) + fn
}

func testArena(t testing.TB, size int64) *codemem.Arena {
	t.Helper()
	a, err := codemem.NewArena(size)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err) // some module was not freed
		}
	})
	return a
}

// build compiles dm with a fake; the module may already be closed when the
// test ends.
func build(ctx context.Context, dm *decoder.Module, o Options, emit func(c *fake, fn uint32) error) (*Module, error) {
	layout, err := liftoff.NewLayout(dm)
	if err != nil {
		return nil, err
	}
	return compileWith(ctx, dm, layout, o, func() (compiler, error) { return &fake{emit: emit}, nil })
}

func mustBuild(t testing.TB, dm *decoder.Module, o Options, emit func(c *fake, fn uint32) error) *Module {
	t.Helper()
	m, err := build(context.Background(), dm, o, emit)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	})
	return m
}
