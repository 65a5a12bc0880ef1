package refinterp

import (
	"encoding/binary"
	"fmt"

	"github.com/wasmjit/wasmjit/decoder"
)

// Opcodes with a meaning of their own here; numeric ones go through Numeric.
const (
	opUnreachable  = 0x00
	opNop          = 0x01
	opBlock        = 0x02
	opLoop         = 0x03
	opIf           = 0x04
	opElse         = 0x05
	opEnd          = 0x0b
	opBr           = 0x0c
	opBrIf         = 0x0d
	opBrTable      = 0x0e
	opReturn       = 0x0f
	opCall         = 0x10
	opCallIndirect = 0x11
	opDrop         = 0x1a
	opSelect       = 0x1b
	opSelectT      = 0x1c
	opLocalGet     = 0x20
	opLocalSet     = 0x21
	opLocalTee     = 0x22
	opGlobalGet    = 0x23
	opGlobalSet    = 0x24
	opTableGet     = 0x25
	opTableSet     = 0x26
	opLoadFirst    = 0x28
	opLoadLast     = 0x35
	opStoreLast    = 0x3e
	opMemorySize   = 0x3f
	opMemoryGrow   = 0x40
	opI32Const     = 0x41
	opI64Const     = 0x42
	opF32Const     = 0x43
	opF64Const     = 0x44
	opRefNull      = 0xd0
	opRefIsNull    = 0xd1
	opRefFunc      = 0xd2
	opMemoryInit   = 0xfc08
	opDataDrop     = 0xfc09
	opMemoryCopy   = 0xfc0a
	opMemoryFill   = 0xfc0b
	opTableInit    = 0xfc0c
	opElemDrop     = 0xfc0d
	opTableCopy    = 0xfc0e
	opTableGrow    = 0xfc0f
	opTableSize    = 0xfc10
	opTableFill    = 0xfc11
)

// instr is a decoded instruction. Of a block, x is the index behind its end
// (of a loop, behind the opening), params and results its arity; of an if,
// y is the index behind its else, or of its end.
type instr struct {
	op              uint32
	x, y            uint32
	params, results uint32
	imm             uint64
	targets         []uint32
}

// code is a function's decoded body.
type code struct {
	locals int // declared ones, without parameters
	instrs []instr
	offset []uint32 // module offset of each instruction
}

// bodyReader walks a valid body.
type bodyReader struct {
	buf []byte
	pos int
}

func (r *bodyReader) byte() byte {
	b := r.buf[r.pos]
	r.pos++
	return b
}

func (r *bodyReader) u32() uint32 {
	v, n := binary.Uvarint(r.buf[r.pos:])
	r.pos += n
	return uint32(v)
}

// signed reads a signed LEB128 of any width.
func (r *bodyReader) signed() int64 {
	var v int64
	for shift := 0; ; shift += 7 {
		b := r.byte()
		v |= int64(b&0x7f) << shift
		if b < 0x80 {
			if shift+7 < 64 {
				v = v << (64 - shift - 7) >> (64 - shift - 7)
			}
			return v
		}
	}
}

// blockArity gives the parameters and results of a block type.
func blockArity(m *decoder.Module, bt int64) (params, results uint32) {
	switch {
	case bt >= 0:
		t := &m.Types[bt]
		return uint32(len(t.Params)), uint32(len(t.Results))
	case bt == -0x40:
		return 0, 0
	}
	return 0, 1
}

// decodeBody decodes the body of defined function i, which must be valid.
func decodeBody(m *decoder.Module, i int) (*code, error) {
	b := m.Bodies[i]
	r := &bodyReader{buf: m.Bytes[:b.End], pos: int(b.Start)}
	c := &code{}
	for n := r.u32(); n > 0; n-- {
		c.locals += int(r.u32())
		r.byte()
	}
	var open []int // indices of the openers, and of elses in their place
	for r.pos < len(r.buf) {
		at := r.pos
		in := instr{op: uint32(r.byte())}
		if in.op == 0xfc {
			in.op = 0xfc00 | r.u32()
		}
		here := uint32(len(c.instrs))
		switch {
		case in.op == opBlock || in.op == opLoop || in.op == opIf:
			in.params, in.results = blockArity(m, r.signed())
			in.x = here + 1
			open = append(open, int(here))
		case in.op == opElse:
			opener := open[len(open)-1]
			c.instrs[opener].y = here + 1
			open[len(open)-1] = int(here)
			in.y = uint32(opener)
		case in.op == opEnd:
			if len(open) > 0 {
				o := open[len(open)-1]
				open = open[:len(open)-1]
				if c.instrs[o].op == opElse {
					c.instrs[o].x = here
					o = int(c.instrs[o].y)
				} else if c.instrs[o].op == opIf {
					c.instrs[o].y = here
				}
				if c.instrs[o].op != opLoop {
					c.instrs[o].x = here + 1
				}
			}
		default:
			if err := r.immediates(&in); err != nil {
				return nil, fmt.Errorf("offset 0x%x: %w", at, err)
			}
		}
		c.instrs = append(c.instrs, in)
		c.offset = append(c.offset, uint32(at))
	}
	return c, nil
}

// immediates reads those of every instruction that opens or closes no block.
func (r *bodyReader) immediates(in *instr) error {
	switch op := in.op; {
	case op == opBrTable:
		n := r.u32()
		in.targets = make([]uint32, 0, min(int(n), len(r.buf))+1)
		for ; n > 0; n-- {
			in.targets = append(in.targets, r.u32())
		}
		in.x = r.u32()
	case op >= opLoadFirst && op <= opStoreLast:
		r.u32() // alignment
		in.imm = uint64(r.u32())
	case op == opSelectT:
		for n := r.u32(); n > 0; n-- {
			r.byte()
		}
	case op == opI32Const:
		in.imm = uint64(r.signed()) & m32
	case op == opI64Const:
		in.imm = uint64(r.signed())
	case op == opF32Const:
		in.imm = uint64(binary.LittleEndian.Uint32(r.buf[r.pos:]))
		r.pos += 4
	case op == opF64Const:
		in.imm = binary.LittleEndian.Uint64(r.buf[r.pos:])
		r.pos += 8
	case op == opRefNull:
		r.signed()
	case op == opCallIndirect, op == opMemoryInit, op == opMemoryCopy, op == opTableInit, op == opTableCopy:
		in.x, in.y = r.u32(), r.u32()
	case op == opBr, op == opBrIf, op == opCall, op >= opLocalGet && op <= opTableSet,
		op == opMemorySize, op == opMemoryGrow, op == opRefFunc, op == opDataDrop, op == opMemoryFill,
		op == opElemDrop, op == opTableGrow, op == opTableSize, op == opTableFill:
		in.x = r.u32()
	case op == opUnreachable, op == opNop, op == opReturn, op == opDrop, op == opSelect, op == opRefIsNull:
	case Arity(op) > 0:
	default:
		return fmt.Errorf("the reference interpreter has no opcode 0x%x", op)
	}
	return nil
}
