package main

import (
	"testing"

	wabin "github.com/tetratelabs/wabin/binary"
	"github.com/tetratelabs/wabin/leb128"
	"github.com/tetratelabs/wabin/wasm"
)

const (
	i32 = wasm.ValueTypeI32
	i64 = wasm.ValueTypeI64
	f32 = wasm.ValueTypeF32
	f64 = wasm.ValueTypeF64
)

// fn is a function of a test module, exported under its name.
type fn struct {
	name            string
	params, results []wasm.ValueType
	body            []byte // with its end
}

// module builds a test module with a memory of one page, holding data at 64,
// and with fd_write (function 0) and proc_exit (function 1) imported.
func module(t *testing.T, data string, fns ...fn) []byte {
	t.Helper()
	m := &wasm.Module{
		TypeSection: []*wasm.FunctionType{
			{Params: []wasm.ValueType{i32, i32, i32, i32}, Results: []wasm.ValueType{i32}},
			{Params: []wasm.ValueType{i32}},
		},
		ImportSection: []*wasm.Import{
			{Type: wasm.ExternTypeFunc, Module: "wasi_snapshot_preview1", Name: "fd_write", DescFunc: 0},
			{Type: wasm.ExternTypeFunc, Module: "wasi_snapshot_preview1", Name: "proc_exit", DescFunc: 1},
		},
		MemorySection: &wasm.Memory{Min: 1},
		ExportSection: []*wasm.Export{{Type: wasm.ExternTypeMemory, Name: "memory"}},
		NameSection:   &wasm.NameSection{},
	}
	if data != "" {
		m.DataSection = []*wasm.DataSegment{{
			OffsetExpression: &wasm.ConstantExpression{Opcode: wasm.OpcodeI32Const, Data: leb128.EncodeInt32(64)},
			Init:             []byte(data),
		}}
	}
	for i, f := range fns {
		m.TypeSection = append(m.TypeSection, &wasm.FunctionType{Params: f.params, Results: f.results})
		m.FunctionSection = append(m.FunctionSection, uint32(i+2))
		m.CodeSection = append(m.CodeSection, &wasm.Code{Body: f.body})
		m.ExportSection = append(m.ExportSection, &wasm.Export{Type: wasm.ExternTypeFunc, Name: f.name, Index: uint32(i + 2)})
		m.NameSection.FunctionNames = append(m.NameSection.FunctionNames, &wasm.NameAssoc{Index: uint32(i + 2), Name: f.name})
	}
	return wabin.EncodeModule(m)
}

// store32 stores a small constant at a small address.
func store32(addr, v byte) []byte { return []byte{0x41, addr, 0x41, v, 0x36, 2, 0} }

// hello writes text, of less than 60 bytes, to descriptor fd.
func hello(t *testing.T, fd byte, text string, rest ...byte) []byte {
	t.Helper()
	body := append(store32(0, 64&0x3f), store32(4, byte(len(text)))...)
	// The address 64 needs two bytes as a signed LEB128.
	body = append([]byte{0x41, 0, 0x41, 0xc0, 0, 0x36, 2, 0}, body[7:]...)
	body = append(body, 0x41, fd, 0x41, 0, 0x41, 1, 0x41, 8, 0x10, 0, 0x1a)
	body = append(body, rest...)
	return module(t, text, fn{name: "_start", body: append(body, 0x0b)})
}
