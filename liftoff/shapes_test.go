package liftoff_test

import (
	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
	"github.com/wasmjit/wasmjit/liftoff"
)

// Opcodes that goldenShapes uses.
const (
	opBlock, opLoop, opIf, opElse = 0x02, 0x03, 0x04, 0x05
	opEnd, opBr, opBrIf, opRet    = 0x0b, 0x0c, 0x0d, 0x0f
	opSelect, opDrop              = 0x1b, 0x1a
	opI32Eqz, opI32LtS, opI32Add  = 0x45, 0x48, 0x6a
	opI32Load, opI32Store         = 0x28, 0x36
	opF64Load, opI64Store         = 0x2b, 0x37
	opF64Lt, opF64Eq              = 0x63, 0x61
	opI32Sub, opI32Mul            = 0x6b, 0x6c
	void                          = -0x40
)

// goldenShapes are functions that show the code of control flow, locals, calls
// and memory accesses, by golden file.
func goldenShapes() map[string][]goldenFunc {
	i, l, d := decoder.I32, decoder.I64, decoder.F64
	code := func() *wasmtest.Code { return new(wasmtest.Code) }
	native := liftoff.Options{CPU: allCPU}
	explicit := liftoff.Options{CPU: allCPU, Bounds: liftoff.BoundsExplicit}
	types := wasmtest.Types

	sum := code().Block(opBlock, void).Block(opLoop, void).
		Get(0).Op(opI32Eqz).OpU(opBrIf, 1).
		Get(1).Get(0).Op(opI32Add).Set(1).
		Get(0).I32(1).Op(opI32Sub).Set(0).
		OpU(opBr, 0).End().End().Get(1)
	values := code().Block(opBlock, wasmtest.Result(i)).
		Get(0).Get(1).Op(opI32Add).Get(0).OpU(opBrIf, 0).
		Get(1).Op(opI32Mul).End()
	table := code().Block(opBlock, void).Block(opBlock, void).Block(opBlock, void).
		Get(0).BrTable(0, 1, 2, 0, 1, 2).End().I32(10).Op(opRet).End().I32(20).Op(opRet).End().I32(30)
	mem := func(op byte, offset uint32) wasmtest.Code {
		return *code().Get(0).Load(op, offset)
	}
	return map[string][]goldenFunc{
		"control": {
			{name: "loop with pinned locals", params: types(i), results: types(i), locals: types(i), body: *sum, options: native},
			{name: "br_if with a value", params: types(i, i), results: types(i), body: *values, options: native},
			{name: "br_table", params: types(i), results: types(i), body: *table, options: native},
			{name: "if else with a result", params: types(i, i), results: types(i), options: native,
				body: *code().Get(0).Get(1).Op(opI32LtS).Block(opIf, wasmtest.Result(i)).Get(0).Op(opElse).Get(1).End()},
			{name: "if after an inverted comparison of floats", params: types(d, d), options: native,
				body: *code().Get(0).Get(1).Op(opF64Lt).Op(opI32Eqz).Block(opIf, void).Op(0x00).End()},
			{name: "if after equality of floats", params: types(d, d), options: native,
				body: *code().Get(0).Get(1).Op(opF64Eq).Block(opIf, void).Op(0x00).End()},
			{name: "select after a comparison", params: types(i, i), results: types(i), options: native,
				body: *code().Get(0).Get(1).Get(0).Get(1).Op(opI32LtS).Op(opSelect)},
			{name: "unreachable", options: native, body: *code().Op(0x00)},
		},
		"calls": {
			{name: "direct", params: types(i, l, d), results: types(l), options: native,
				body: *code().Get(0).Get(1).Get(2).Call(1)},
			{name: "stack arguments and results", params: types(i), results: types(i), options: native,
				body: *code().Get(0).I32(2).I32(3).Get(0).I32(5).Get(0).Call(2).Op(opI32Add).Op(opI32Add)},
			{name: "import", params: types(i), results: types(i), options: native, body: *code().Get(0).Call(0)},
			{name: "indirect", params: types(i), results: types(i), options: native,
				body: *code().Get(0).Get(0).OpU(0x11, 0, 0)},
			{name: "runtime routine", params: types(i), results: types(i), options: native,
				body: *code().Get(0).Op(0x40, 0)},
		},
		"memory": {
			{name: "i32.load offset 16", params: types(i), results: types(i), body: mem(opI32Load, 16), options: native},
			{name: "f64.load offset 2^31", params: types(i), results: types(d), body: mem(opF64Load, 1<<31), options: native},
			{name: "i32.load of a constant address", results: types(i), options: native, body: *code().I32(64).Load(opI32Load, 4)},
			{name: "i32.store of a constant", params: types(i), options: native, body: *code().Get(0).I32(7).Store(opI32Store, 8)},
			{name: "i64.store", params: types(i, l), options: native, body: *code().Get(0).Get(1).Store(opI64Store, 8)},
			{name: "i32.load, explicit bounds", params: types(i), results: types(i), body: mem(opI32Load, 16), options: explicit},
			{name: "i64.store offset 2^31, explicit bounds", params: types(i, l), options: explicit,
				body: *code().Get(0).Get(1).Store(opI64Store, 1<<31)},
		},
		"globals": {
			{name: "global.get, global.set", params: types(i), results: types(i), options: native,
				body: *code().OpU(0x23, 0).Get(0).OpU(0x24, 0)},
			{name: "table.get, table.set", params: types(i), options: native,
				body: *code().Get(0).Get(0).OpU(0x25, 0).OpU(0x26, 0)},
			{name: "ref.func, ref.is_null", results: types(i), options: native,
				body: *code().OpU(0xd2, 1).Op(0xd1)},
		},
		"fused": {
			{name: "address of an array element", params: types(i, i), results: types(i), options: native,
				body: *code().Get(0).Get(1).I32(2).Op(0x74).Op(opI32Add).Load(opI32Load, 8)},
			{name: "Go's 32-bit sum", params: types(i), results: types(i), options: native,
				body: *code().Get(0).Op(0xad).I64(-16).Op(0x7c).Op(0xa7).Load(opI32Load, 0)},
			{name: "branch on a bit", params: types(i), options: native,
				body: *code().Get(0).I32(8).Op(0x71).Block(opIf, void).Op(0x00).End()},
			{name: "branch on common bits being zero", params: types(l, l), options: native,
				body: *code().Get(0).Get(1).Op(0x83).Op(0x50).Block(opIf, void).Op(0x00).End()},
		},
		"locals": {
			{name: "many locals", results: types(i), locals: make40(i), options: native,
				body: *allLocals(40)},
		},
	}
}

func make40(t decoder.Type) []decoder.Type {
	var l []decoder.Type
	for range 40 {
		l = append(l, t)
	}
	return l
}

// allLocals adds n locals up.
func allLocals(n uint32) *wasmtest.Code {
	c := new(wasmtest.Code).Get(0)
	for i := uint32(1); i < n; i++ {
		c.Get(i).Op(opI32Add)
	}
	return c
}
