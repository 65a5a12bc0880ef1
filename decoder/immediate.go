package decoder

import "unsafe"

// SimpleLEBs[op] is the number of LEB128 integers that are op's whole
// immediate, or NotSimple for an opcode that needs SkipImmediate.
var SimpleLEBs = simpleLEBs()

// NotSimple marks the opcodes whose immediates are more than a few integers.
const NotSimple = 0xff

func simpleLEBs() (n [256]uint8) {
	for op := range n {
		switch opImm[op] {
		case immNone:
			if opSig[op] == 0 {
				n[op] = NotSimple
			}
		case immCalltype, immMem, immMem2, immTable2, immDatamem, immElemtable:
			n[op] = 2
		case immF32, immF64, immHeap, immTypes, immLabels, immSub:
			n[op] = NotSimple
		default:
			n[op] = 1
		}
	}
	return n
}

// SkipLEB steps over a LEB128 integer without reading it; like all scans it
// trusts the bytes, and may read up to Padding bytes beyond the end.
func SkipLEB(p unsafe.Pointer, pc, end int) int {
	for Byte(p, pc) >= 0x80 && pc < end {
		pc++
	}
	return pc + 1
}

// SkipImmediate steps over the immediate of op, whose opcode byte ends before
// pc, and gives the position behind it. It checks nothing and never reads
// past a body by more than Padding; for what it can't step over it gives
// Malformed. end bounds the walk over br_table's labels. It serves scans that
// come before validation.
func SkipImmediate(p unsafe.Pointer, pc, end int, op byte) int {
	switch kind := opImm[op]; kind {
	case immNone:
		if opSig[op] == 0 {
			return Malformed
		}
		return pc
	case immSub:
		if op != OpMiscPrefix {
			return Malformed
		}
		sub, next := U32(p, pc)
		if int64(sub) >= int64(len(opSigFC)) || opSigFC[sub] == 0 {
			return Malformed
		}
		return skipImm(p, next, opImmFC[sub])
	case immLabels:
		n, pc := U32(p, pc)
		if pc >= end || int64(n) >= int64(end-pc) {
			return Malformed
		}
		for ; n > 0 && pc < end; n-- {
			_, pc = U32(p, pc)
		}
		if pc < end {
			_, pc = U32(p, pc)
		}
		return pc
	default:
		return skipImm(p, pc, kind)
	}
}

func skipImm(p unsafe.Pointer, pc int, kind uint8) int {
	switch kind {
	case immNone:
	case immS32:
		_, pc = S32(p, pc)
	case immS64:
		_, pc = S64(p, pc)
	case immF32:
		pc += 4
	case immF64:
		pc += 8
	case immHeap:
		pc++
	case immBlock:
		_, pc = S33(p, pc)
	case immCalltype, immMem, immMem2, immTable2, immDatamem, immElemtable:
		if _, pc = U32(p, pc); pc < Malformed {
			_, pc = U32(p, pc)
		}
	case immTypes:
		var n uint32
		if n, pc = U32(p, pc); pc < Malformed {
			pc += int(n)
		}
	default:
		_, pc = U32(p, pc)
	}
	return pc
}

// HeapType reads the heap type of a ref.null; Malformed as the position if it
// is not one that is supported.
func HeapType(p unsafe.Pointer, pc int) (Type, int) {
	t := valTypeOf(Byte(p, pc))
	if !t.IsRef() {
		return Bot, Malformed
	}
	return t, pc + 1
}

// ValType gives the value type that a byte of the binary format stands for,
// or Bot.
func ValType(b byte) Type { return valTypeOf(b) }

// HasRefFunc reports whether a ref.func may name function fn.
func (m *Module) HasRefFunc(fn uint32) bool { return m.isRef(fn) }

// OpNameAt names the opcode at an offset of the module, for diagnoses.
func (m *Module) OpNameAt(pc int) string {
	if pc < 0 || pc >= len(m.Bytes) {
		return "end"
	}
	op := m.Bytes[pc]
	if !isPrefix(op) {
		return OpName(uint32(op))
	}
	sub, next := U32(unsafe.Pointer(unsafe.SliceData(m.Bytes)), pc+1)
	if next >= Malformed || sub > 0xfff {
		return OpName(uint32(op))
	}
	return OpName(uint32(op)<<12 | sub)
}
