// Package wasmtest builds small modules byte by byte for tests: sections and
// LEB128 only, thousands of functions in milliseconds. It checks nothing; the
// decoder does.
package wasmtest

import (
	"encoding/binary"

	"github.com/wasmjit/wasmjit/decoder"
)

// Type gives the byte of a value type in the binary format.
func Type(t decoder.Type) byte {
	return [...]byte{0x40, 0x7f, 0x7e, 0x7d, 0x7c, 0x7b, 0x70, 0x6f}[t]
}

// AppendU appends an unsigned LEB128.
func AppendU(b []byte, v uint64) []byte { return binary.AppendUvarint(b, v) }

// AppendS appends a signed LEB128.
func AppendS(b []byte, v int64) []byte {
	for {
		c := byte(v & 0x7f)
		v >>= 7
		if v == 0 && c&0x40 == 0 || v == -1 && c&0x40 != 0 {
			return append(b, c)
		}
		b = append(b, c|0x80)
	}
}

// Code is a sequence of instructions. Its methods append and return it.
type Code []byte

// Op appends raw bytes, such as an opcode without immediates.
func (c *Code) Op(b ...byte) *Code {
	*c = append(*c, b...)
	return c
}

// OpU appends an opcode with unsigned immediates. Opcodes of two bytes are
// written 0xfc00 | sub-opcode.
func (c *Code) OpU(op uint32, imm ...uint32) *Code {
	if op > 0xff {
		*c = AppendU(append(*c, byte(op>>8)), uint64(op&0xff))
	} else {
		*c = append(*c, byte(op))
	}
	for _, v := range imm {
		*c = AppendU(*c, uint64(v))
	}
	return c
}

// Get, Set and Tee append local.get, local.set and local.tee.
func (c *Code) Get(i uint32) *Code { return c.OpU(0x20, i) }

// Set appends local.set.
func (c *Code) Set(i uint32) *Code { return c.OpU(0x21, i) }

// Tee appends local.tee.
func (c *Code) Tee(i uint32) *Code { return c.OpU(0x22, i) }

// Call appends a direct call.
func (c *Code) Call(f uint32) *Code { return c.OpU(0x10, f) }

// I32 appends i32.const.
func (c *Code) I32(v int32) *Code {
	*c = AppendS(append(*c, 0x41), int64(v))
	return c
}

// I64 appends i64.const.
func (c *Code) I64(v int64) *Code {
	*c = AppendS(append(*c, 0x42), v)
	return c
}

// Const appends a constant of a numeric type, or a null reference for bits 0.
func (c *Code) Const(t decoder.Type, bits uint64) *Code {
	switch t {
	case decoder.I32:
		return c.I32(int32(uint32(bits)))
	case decoder.I64:
		return c.I64(int64(bits))
	case decoder.F32:
		*c = binary.LittleEndian.AppendUint32(append(*c, 0x43), uint32(bits))
	case decoder.F64:
		*c = binary.LittleEndian.AppendUint64(append(*c, 0x44), bits)
	default:
		*c = append(*c, 0xd0, Type(t))
	}
	return c
}

// Block appends a block, loop or if (op 0x02, 0x03, 0x04) with a block type:
// Empty, a single Result or a type index.
func (c *Code) Block(op byte, bt int64) *Code {
	*c = AppendS(append(*c, op), bt)
	return c
}

// Empty is the block type without parameters and results.
const Empty = -0x40

// Result is the block type with one result.
func Result(t decoder.Type) int64 { return int64(Type(t)) - 0x80 }

// End appends end.
func (c *Code) End() *Code { return c.Op(0x0b) }

// BrTable appends br_table; the last label is the default.
func (c *Code) BrTable(labels ...uint32) *Code {
	*c = AppendU(append(*c, 0x0e), uint64(len(labels)-1))
	for _, l := range labels {
		*c = AppendU(*c, uint64(l))
	}
	return c
}

// Load and Store append a memory access with an alignment of one byte.
func (c *Code) Load(op byte, offset uint32) *Code { return c.OpU(uint32(op), 0, offset) }

// Store appends a store.
func (c *Code) Store(op byte, offset uint32) *Code { return c.OpU(uint32(op), 0, offset) }
