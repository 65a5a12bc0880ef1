package decoder

import "fmt"

// walk validates code from pc on. It ends behind the body's last end, or, when
// depth frames are open, at the else or end of the innermost one, which it
// checks but doesn't consume. It never recurses: nesting lives on the control
// stack.
//
// Opcodes with a plain signature are driven by the generated tables; those
// whose class decides have methods in control.go and variables.go.
func (v *Validator) walk(pc, depth int) (int, bool) {
	base, end := v.Base, v.End
	for {
		if v.H > MaxOperands {
			v.failAt(v.at, CodeTooLarge, "operand stack of %d operands is over the limit of %d", v.H, MaxOperands)
			break
		}
		if pc >= end {
			v.failAt(end, CodeNesting, "expected an end for each of %d open blocks, found the end of the function body", v.D)
			break
		}
		op := Byte(base, pc)
		v.at, v.op = pc, uint32(op)
		pc++
		sig := opSig[op]
		if sig&sigClass == 0 {
			var ok bool
			if pc, ok = v.immediate(op, pc); !ok || !v.apply(sig) {
				break
			}
			continue
		}

		var i uint32
		next, ok := pc, true
		switch op {
		case OpNop:
		case OpLocalGet:
			if i, next, ok = v.local(pc); ok {
				v.Push(v.Locals[i])
			}
		case OpLocalSet:
			if i, next, ok = v.local(pc); ok {
				ok = v.pop(v.Locals[i])
			}
		case OpLocalTee:
			if i, next, ok = v.local(pc); ok {
				if ok = v.pop(v.Locals[i]); ok {
					v.Push(v.Locals[i])
				}
			}
		case OpEnd:
			if v.D == depth {
				return v.at, v.endFrame()
			}
			if !v.end() {
				return pc, false
			}
			if v.D == 0 {
				if pc != end {
					v.failAt(pc, CodeNesting, "expected the end of the function body, found %d bytes behind its last end", end-pc)
					return pc, false
				}
				return pc, true
			}
		case OpElse:
			if v.D == depth {
				return v.at, v.checkElse()
			}
			ok = v.elseArm()
		case OpBlock, OpLoop:
			next, ok = v.block(op, pc)
		case OpIf:
			if ok = v.pop(I32); ok {
				next, ok = v.block(op, pc)
			}
		case OpBr:
			if i, next, ok = v.label(pc); ok {
				ok = v.branch(i)
			}
		case OpBrIf:
			if i, next, ok = v.label(pc); ok {
				ok = v.branchIf(i)
			}
		case OpBrTable:
			next, ok = v.branchTable(pc)
		case OpReturn:
			ok = v.branch(uint32(v.D - 1))
		case OpUnreachable:
			v.unreachable()
		case OpCall:
			next, ok = v.call(pc)
		case OpCallIndirect:
			next, ok = v.callIndirect(pc)
		case OpDrop:
			_, ok = v.popAny("any type")
		case OpSelect:
			ok = v.selectUntyped()
		case OpSelectT:
			next, ok = v.selectTyped(pc)
		case OpGlobalGet, OpGlobalSet:
			next, ok = v.global(op, pc)
		case OpTableGet, OpTableSet:
			next, ok = v.tableAccess(op, pc)
		case OpRefNull:
			next, ok = v.refNull(pc)
		case OpRefIsNull:
			ok = v.refIsNull()
		case OpMiscPrefix:
			next, ok = v.misc(pc)
		default:
			ok = v.prefixed(op, pc)
		}
		if !ok {
			break
		}
		pc = next
	}
	return pc, false
}

// immediate steps over the immediate of an opcode with a plain signature and
// checks it.
func (v *Validator) immediate(op byte, pc int) (next int, ok bool) {
	most := 5
	what := "an i32 constant"
	switch opImm[op] {
	case immNone:
		return pc, opSig[op] != 0 || v.prefixed(op, pc)
	case immMem:
		return v.memarg(op, pc)
	case immS32:
		_, next = S32(v.Base, pc)
	case immS64:
		_, next = S64(v.Base, pc)
		most, what = 10, "an i64 constant"
	case immF32, immF64:
		next = pc + 4
		if op == OpF64Const {
			next = pc + 8
		}
		if next > v.End {
			return next, v.failEnd(pc, opNames[op][:3]+" constant")
		}
		return next, true
	case immMemory:
		return v.memory(pc)
	case immFunc:
		return v.refFunc(pc)
	default:
		panic(fmt.Sprintf("decoder: immediate kind %d of opcode %#x", opImm[op], op))
	}
	if next > v.End {
		return next, v.failLEB(pc, most, what)
	}
	return next, true
}

// prefixed reports an opcode, or a sub-opcode at pc, that isn't supported or
// doesn't exist.
func (v *Validator) prefixed(op byte, pc int) bool {
	var sub uint32
	if isPrefix(op) {
		var ok bool
		if sub, _, ok = v.index(pc, "a sub-opcode"); !ok {
			return false
		}
	}
	feature, msg := badOpcode(op, sub)
	if feature != "" {
		return v.failUnsupported(v.at, feature, msg)
	}
	return v.failAt(v.at, CodeOpcode, "%s", msg)
}

// memarg checks alignment and offset of an access to memory 0.
func (v *Validator) memarg(op byte, pc int) (int, bool) {
	align, next := U32(v.Base, pc)
	if next > v.End {
		return next, v.failLEB(pc, 5, "an alignment")
	}
	if align > uint32(opAlign[op]) {
		if align >= 0x40 && align < 0x80 {
			return next, v.failUnsupported(pc, "multi-memory", unsupported("multi-memory", opNames[op]+" with a memory index"))
		}
		return next, v.failAt(pc, CodeAlignment, "%s: expected an alignment of at most 2**%d, found 2**%d", opNames[op], opAlign[op], align)
	}
	pc = next
	if _, next = U32(v.Base, pc); next > v.End {
		return next, v.failLEB(pc, 5, "an offset of at most 32 bits")
	}
	if len(v.Mod.Memories) == 0 {
		return next, v.failOp(CodeIndex, "unknown memory 0: the module has none")
	}
	return next, true
}

// memory reads the memory index of an instruction that names one, a zero byte
// without the multi-memory proposal.
func (v *Validator) memory(pc int) (int, bool) {
	if pc >= v.End {
		return pc, v.failEnd(pc, "a memory index")
	}
	switch b := Byte(v.Base, pc); {
	case b >= 0x80:
		return pc, v.failUnsupported(pc, "multi-memory", unsupported("multi-memory", "memory index of more than one byte"))
	case int(b) >= len(v.Mod.Memories):
		return pc, v.failAt(pc, CodeIndex, "unknown memory %d: the module has %d", b, len(v.Mod.Memories))
	}
	return pc + 1, true
}

// apply pops and pushes by a packed signature. The checks of the fast path
// fail on the unknown operands of unreachable code too.
func (v *Validator) apply(sig uint32) bool {
	n := int(sig >> sigCountShift & 3)
	h := v.H - n
	if h < v.Floor {
		return v.applySlow(sig)
	}
	switch n {
	case 1:
		if v.Ops[h].Type != Type(sig>>3&7) {
			return v.applySlow(sig)
		}
	case 2:
		ops := v.Ops[h : h+2]
		if ops[1].Type != Type(sig>>3&7) || ops[0].Type != Type(sig>>6&7) {
			return v.applySlow(sig)
		}
	case 3:
		ops := v.Ops[h : h+3]
		if ops[2].Type != Type(sig>>3&7) || ops[1].Type != Type(sig>>6&7) || ops[0].Type != Type(sig>>9&7) {
			return v.applySlow(sig)
		}
	}
	v.H = h
	if t := Type(sig & 7); t != Bot {
		v.Push(t)
	}
	return true
}

func (v *Validator) applySlow(sig uint32) bool {
	pops := [3]Type{Type(sig >> 9 & 7), Type(sig >> 6 & 7), Type(sig >> 3 & 7)}
	if !v.popAll(pops[3-sig>>sigCountShift&3:]) {
		return false
	}
	if t := Type(sig & 7); t != Bot {
		v.Push(t)
	}
	return true
}

// pop pops an operand of a type.
func (v *Validator) pop(want Type) bool {
	if v.H > v.Floor && v.Ops[v.H-1].Type == want {
		v.H--
		return true
	}
	return v.popAll(single[want : want+1])
}

// popAny pops an operand of any type; Bot if it is unknown. what says in a
// message which types would do.
func (v *Validator) popAny(what string) (Type, bool) {
	if v.H > v.Floor {
		v.H--
		return v.Ops[v.H].Type, true
	}
	if v.Ctl[v.D-1].Dead {
		return Bot, true
	}
	return Bot, v.failOp(CodeType, "expected an operand of %s, found none", what)
}

// matches reports whether the topmost operands have these types, counting
// unknown operands and those below a polymorphic stack as matching.
func (v *Validator) matches(types []Type) bool {
	h := v.H
	for i := len(types) - 1; i >= 0; i-- {
		if h == v.Floor {
			return v.Ctl[v.D-1].Dead
		}
		h--
		if t := v.Ops[h].Type; t != types[i] && t != Bot {
			return false
		}
	}
	return true
}

func (v *Validator) popAll(types []Type) bool {
	if !v.matches(types) {
		return v.failOperands(types)
	}
	v.H = max(v.Floor, v.H-len(types))
	return true
}

func (v *Validator) pushAll(types []Type) {
	for _, t := range types {
		v.Push(t)
	}
}
