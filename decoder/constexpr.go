package decoder

import (
	"encoding/binary"
	"fmt"
)

// constExpr decodes and validates a constant expression that gives one value
// of type want (spec 3.3.10, with the extended-const proposal). what names it
// in messages. On an error the result is nil.
func (d *sectionDecoder) constExpr(want Type, what string) ConstExpr {
	if x := d.plainConst(want); x != nil {
		return x
	}
	d.expr, d.stack = d.expr[:0], d.stack[:0]
	for d.err == nil {
		at := d.pos
		op := d.byte(what)
		if d.err != nil {
			break
		}
		if op == OpEnd {
			return d.endExpr(at, want, what)
		}
		d.constInstr(at, op, what)
	}
	return nil
}

// endExpr checks the result of the expression and keeps it.
func (d *sectionDecoder) endExpr(at int, want Type, what string) ConstExpr {
	if len(d.stack) != 1 || d.stack[0] != want {
		found := "nothing"
		if len(d.stack) > 0 {
			found = typeList(d.stack)
		}
		d.fail(at, CodeType, "%s: expected %s, found %s", what, want, found)
		return nil
	}
	return d.keep(d.expr)
}

// keep copies an expression into the arena.
func (d *sectionDecoder) keep(x []ConstInstr) ConstExpr {
	n := len(x)
	if cap(d.consts)-len(d.consts) < n {
		// Every instruction takes at least two bytes, so half of what is left
		// is all that can follow.
		d.consts = make([]ConstInstr, 0, n+min(256, d.left()/2))
	}
	from := len(d.consts)
	d.consts = append(d.consts, x...)
	return d.consts[from:len(d.consts):len(d.consts)]
}

// plainConst reads an i32.const and its end where an i32 is wanted, which is
// what nearly all of the tens of thousands of initialisers and offsets are. It
// gives nil, and has read nothing, if something else stands there.
func (d *sectionDecoder) plainConst(want Type) ConstExpr {
	if want != I32 || d.err != nil || Byte(d.base, d.pos) != OpI32Const {
		return nil
	}
	v, next := S32(d.base, d.pos+1)
	if next >= d.end || Byte(d.base, next) != OpEnd {
		return nil
	}
	d.pos = next + 1
	return d.keep([]ConstInstr{{Op: ConstValue, Type: I32, Bits: uint64(uint32(v))}})
}

func (d *sectionDecoder) constInstr(at int, op byte, what string) {
	x := ConstInstr{Op: ConstValue}
	switch op {
	case OpI32Const:
		v, next := S32(d.base, d.pos)
		if !d.took(d.pos, next, 5, "an i32 constant") {
			return
		}
		x.Type, x.Bits = I32, uint64(uint32(v))
	case OpI64Const:
		v, next := S64(d.base, d.pos)
		if !d.took(d.pos, next, 10, "an i64 constant") {
			return
		}
		x.Type, x.Bits = I64, uint64(v)
	case OpF32Const:
		x.Type, x.Bits = F32, d.fixed(4)
	case OpF64Const:
		x.Type, x.Bits = F64, d.fixed(8)
	case OpRefNull:
		x.Op, x.Type = ConstRefNull, d.refType("a heap type")
	case OpRefFunc:
		x.Op, x.Type, x.Index = ConstRefFunc, FuncRef, d.funcIndex()
		if d.err == nil {
			d.m.addRef(x.Index)
		}
	case OpGlobalGet:
		x.Op = ConstGlobal
		x.Type, x.Index = d.constGlobal()
	case OpI32Add, OpI32Sub, OpI32Mul:
		x.Op, x.Type = ConstI32Add+ConstOp(op-OpI32Add), I32
	case OpI64Add, OpI64Sub, OpI64Mul:
		x.Op, x.Type = ConstI64Add+ConstOp(op-OpI64Add), I64
	default:
		d.notConst(at, op, what)
		return
	}
	if d.err != nil {
		return
	}
	if x.Op >= ConstI32Add {
		n := len(d.stack)
		if n < 2 || d.stack[n-1] != x.Type || d.stack[n-2] != x.Type {
			d.fail(at, CodeType, "%s: %s: expected %s and %s, found %s", what, opNames[op], x.Type, x.Type, typeList(d.stack[max(0, n-2):]))
			return
		}
		d.stack = d.stack[:n-2]
	}
	d.stack = append(d.stack, x.Type)
	d.expr = append(d.expr, x)
}

// fixed reads n little-endian bytes.
func (d *sectionDecoder) fixed(n int) uint64 {
	if d.left() < n {
		d.failEnd(d.pos, fmt.Sprintf("%d bytes of a constant", n))
		return 0
	}
	b := d.bytes(d.pos, d.pos+n)
	d.pos += n
	if n == 4 {
		return uint64(binary.LittleEndian.Uint32(b))
	}
	return binary.LittleEndian.Uint64(b)
}

// constGlobal reads the index of a global that a constant expression may
// read: an imported, immutable one. WebAssembly 3.0 allows every immutable
// one that is defined before.
func (d *sectionDecoder) constGlobal() (Type, uint32) {
	at := d.pos
	i := d.u32("a global index")
	switch {
	case d.err != nil:
		return Bot, 0
	case int64(i) >= int64(len(d.m.Globals)):
		d.fail(at, CodeIndex, "unknown global %d: the module has %d here", i, len(d.m.Globals))
	case d.m.Globals[i].Mutable:
		d.fail(at, CodeConst, "expected an immutable global in a constant expression, found global %d, which is mutable", i)
	case i >= d.m.NumImportedGlobals:
		d.failUnsupported(at, "gc", "global %d, which is not imported, in a constant expression", i)
	default:
		return d.m.Globals[i].Type, i
	}
	return Bot, 0
}

// notConst reports an opcode that constant expressions can't have.
func (d *sectionDecoder) notConst(at int, op byte, what string) {
	var sub uint32
	name := uint32(op)
	if isPrefix(op) {
		sub = d.u32("a sub-opcode")
		if d.err != nil {
			return
		}
		name = uint32(op)<<12 | sub&0xfff
	}
	feature, msg := badOpcode(op, sub)
	switch {
	case feature != "":
		d.fail(at, CodeUnsupported, "%s", msg)
		d.err.Feature = feature
	case !isPrefix(op) && opSig[op] == 0, op == 0xfc && (int(sub) >= len(opSigFC) || opSigFC[sub] == 0):
		d.fail(at, CodeOpcode, "%s", msg)
	default:
		d.fail(at, CodeConst, "%s: expected a constant instruction, found %s", what, OpName(name))
	}
}

// typeList renders types for a message.
func typeList(t []Type) string {
	switch n := len(t); {
	case n == 0:
		return "nothing"
	case n == 1:
		return t[0].String()
	case n > 8:
		return fmt.Sprintf("%d values ending in %s", n, typeList(t[n-4:]))
	}
	// Not fmt.Sprint: t must not escape, as most lists live on the stack and
	// few are ever rendered.
	s := "["
	for i, x := range t {
		if i > 0 {
			s += " "
		}
		s += x.String()
	}
	return s + "]"
}
