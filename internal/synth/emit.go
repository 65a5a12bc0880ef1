package synth

import "encoding/binary"

// Opcodes, by their names in the specification; wabin's names would hide
// that this file and the module builder agree only on bytes.
const (
	opBlock, opLoop, opIf, opElse, opEnd        = 0x02, 0x03, 0x04, 0x05, 0x0b
	opBr, opBrIf, opBrTable, opReturn           = 0x0c, 0x0d, 0x0e, 0x0f
	opCall, opCallIndirect, opDrop              = 0x10, 0x11, 0x1a
	opSelect                                    = 0x1b
	opLocalGet, opLocalSet, opLocalTee          = 0x20, 0x21, 0x22
	opGlobalGet, opGlobalSet                    = 0x23, 0x24
	opI32Load, opI64Load                        = 0x28, 0x29
	opF32Load, opF64Load                        = 0x2a, 0x2b
	opI32Load8S, opI32Load8U                    = 0x2c, 0x2d
	opI32Load16S, opI32Load16U                  = 0x2e, 0x2f
	opI32Store, opI64Store                      = 0x36, 0x37
	opF32Store, opF64Store                      = 0x38, 0x39
	opI32Store8, opI32Store16                   = 0x3a, 0x3b
	opI32Const, opI64Const                      = 0x41, 0x42
	opF32Const, opF64Const                      = 0x43, 0x44
	opI32Eqz, opI32Eq, opI32Ne, opI32LtS        = 0x45, 0x46, 0x47, 0x48
	opI32GeU                                    = 0x4f
	opI64Eqz, opI64Eq, opI64GeU                 = 0x50, 0x51, 0x5a
	opF32Eq, opF32Ge, opF64Eq, opF64Ge          = 0x5b, 0x60, 0x61, 0x66
	opI32Clz, opI32Popcnt                       = 0x67, 0x69
	opI32Add, opI32Sub, opI32Mul                = 0x6a, 0x6b, 0x6c
	opI32DivS, opI32DivU, opI32RemU             = 0x6d, 0x6e, 0x70
	opI32And, opI32Or, opI32Xor                 = 0x71, 0x72, 0x73
	opI32Shl, opI32ShrS, opI32ShrU              = 0x74, 0x75, 0x76
	opI32Rotl                                   = 0x77
	opI64Add, opI64Sub, opI64Mul, opI64And      = 0x7c, 0x7d, 0x7e, 0x83
	opI64Or, opI64Xor, opI64Shl, opI64ShrU      = 0x84, 0x85, 0x86, 0x88
	opF32Abs, opF32Neg, opF32Sqrt               = 0x8b, 0x8c, 0x91
	opF32Add, opF32Sub, opF32Mul, opF32Div      = 0x92, 0x93, 0x94, 0x95
	opF32Min, opF32Max                          = 0x96, 0x97
	opF64Abs, opF64Neg, opF64Sqrt               = 0x99, 0x9a, 0x9f
	opF64Add, opF64Sub, opF64Mul, opF64Div      = 0xa0, 0xa1, 0xa2, 0xa3
	opI32WrapI64, opI32TruncF32S                = 0xa7, 0xa8
	opI32TruncF64S                              = 0xaa
	opI64ExtendI32S, opI64ExtendI32U            = 0xac, 0xad
	opF32ConvertI32S, opF32ConvertI32U          = 0xb2, 0xb3
	opF32DemoteF64                              = 0xb6
	opF64ConvertI32S, opF64ConvertI32U          = 0xb7, 0xb8
	opF64PromoteF32                             = 0xbb
	blockEmpty                             byte = 0x40
)

// gen writes bodies. Its buffers are reused; the builder copies what it keeps.
type gen struct {
	b   *builder
	r   *rng
	buf []byte

	sig    signature
	self   uint32 // index among the defined functions
	limit  int    // the length of buf that the body should end at
	locals []kind
	byKind [numKinds][]uint32
	// loops are the counters of the loops that may still be opened.
	loops []uint32
	// busy are the counters of the open loops.
	busy []uint32
	// labels says, innermost last, which labels a branch without values may
	// name; those of loops are left out, since a loop must count down.
	labels []bool
	calls  bool
}

func (g *gen) op(b ...byte) { g.buf = append(g.buf, b...) }

func (g *gen) u32(v uint32) { g.buf = binary.AppendUvarint(g.buf, uint64(v)) }

func (g *gen) opU32(op byte, v uint32) { g.op(op); g.u32(v) }

func (g *gen) s64(v int64) {
	for {
		b := byte(v & 0x7f)
		v >>= 7
		if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
			g.op(b)
			return
		}
		g.op(b | 0x80)
	}
}

func (g *gen) i32(v int32) { g.op(opI32Const); g.s64(int64(v)) }

// mem writes a load or store with an offset like those of real code: half
// are zero, most fit one byte, all keep size aligned.
func (g *gen) mem(op byte, logSize uint32) {
	var offset int
	switch g.r.pick([]int{38, 44, 15, 3}) {
	case 1:
		offset = 4 + 4*g.r.below(31)
	case 2:
		offset = 128 + 4*g.r.below(480)
	case 3:
		offset = 8 * g.r.below(8000)
	}
	g.op(op)
	g.u32(logSize)
	g.u32(uint32(offset >> logSize << logSize))
}
