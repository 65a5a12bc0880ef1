package decoder

// This file has the typing rules of variable, table, reference and bulk memory
// instructions (spec 3.3.2, 3.3.5-3.3.7).

func (v *Validator) local(pc int) (uint32, int, bool) {
	i, next := U32(v.Base, pc)
	if next > v.End {
		return 0, next, v.failLEB(pc, 5, "a local index")
	}
	if int64(i) >= int64(len(v.Locals)) {
		return 0, next, v.failAt(pc, CodeIndex, "unknown local %d: the function has %d", i, len(v.Locals))
	}
	return i, next, true
}

func (v *Validator) function(pc int) (uint32, int, bool) {
	i, next, ok := v.index(pc, "a function index")
	if ok && int64(i) >= int64(len(v.Mod.Funcs)) {
		return 0, next, v.failAt(pc, CodeIndex, "unknown function %d: the module has %d", i, len(v.Mod.Funcs))
	}
	return i, next, ok
}

func (v *Validator) table(pc int) (uint32, int, bool) {
	i, next, ok := v.index(pc, "a table index")
	if ok && int64(i) >= int64(len(v.Mod.Tables)) {
		return 0, next, v.failAt(pc, CodeIndex, "unknown table %d: the module has %d", i, len(v.Mod.Tables))
	}
	return i, next, ok
}

func (v *Validator) elem(pc int) (uint32, int, bool) {
	i, next, ok := v.index(pc, "an element segment index")
	if ok && int64(i) >= int64(len(v.Mod.Elems)) {
		return 0, next, v.failAt(pc, CodeIndex, "unknown element segment %d: the module has %d", i, len(v.Mod.Elems))
	}
	return i, next, ok
}

// data reads the index of a data segment. The segments come behind the code,
// so their number must stand in the data count section.
func (v *Validator) data(pc int) (uint32, int, bool) {
	i, next, ok := v.index(pc, "a data segment index")
	switch {
	case !ok:
	case !v.Mod.HasDataCount:
		ok = v.failOp(CodeCount, "expected a data count section, found none")
	case i >= v.Mod.DataCount:
		ok = v.failAt(pc, CodeIndex, "unknown data segment %d: the module has %d", i, v.Mod.DataCount)
	}
	return i, next, ok
}

func (v *Validator) global(op byte, pc int) (int, bool) {
	i, next, ok := v.index(pc, "a global index")
	if !ok {
		return next, false
	}
	if int64(i) >= int64(len(v.Mod.Globals)) {
		return next, v.failAt(pc, CodeIndex, "unknown global %d: the module has %d", i, len(v.Mod.Globals))
	}
	g := &v.Mod.Globals[i]
	if op == OpGlobalGet {
		v.Push(g.Type)
		return next, true
	}
	if !g.Mutable {
		return next, v.failAt(pc, CodeImmutable, "global.set: expected a mutable global, found global %d, which is immutable", i)
	}
	return next, v.pop(g.Type)
}

func (v *Validator) tableAccess(op byte, pc int) (int, bool) {
	i, next, ok := v.table(pc)
	if !ok {
		return next, false
	}
	t := v.Mod.Tables[i].Elem
	if op == OpTableSet {
		return next, v.pop(t) && v.pop(I32)
	}
	if !v.pop(I32) {
		return next, false
	}
	v.Push(t)
	return next, true
}

func (v *Validator) refNull(pc int) (int, bool) {
	if pc >= v.End {
		return pc, v.failEnd(pc, "a heap type")
	}
	t := valTypeOf(Byte(v.Base, pc))
	if !t.IsRef() {
		if t != Bot {
			return pc, v.failAt(pc, CodeEncoding, "expected a heap type, found %s", t)
		}
		return pc, v.failType(pc, "a heap type")
	}
	v.Push(t)
	return pc + 1, true
}

func (v *Validator) refIsNull() bool {
	t, ok := v.popAny("a reference type")
	if !ok {
		return false
	}
	if t != Bot && !t.IsRef() {
		return v.failOp(CodeType, "expected a reference, found %s", t)
	}
	v.Push(I32)
	return true
}

// refFunc checks the immediate of ref.func.
func (v *Validator) refFunc(pc int) (int, bool) {
	i, next, ok := v.function(pc)
	if ok && !v.Mod.isRef(i) {
		return next, v.failAt(pc, CodeUndeclared, "ref.func: expected a function that an export, a global or an element segment names, found function %d", i)
	}
	return next, ok
}

// misc validates an opcode behind prefix 0xfc.
func (v *Validator) misc(pc int) (int, bool) {
	sub, next, ok := v.index(pc, "a sub-opcode")
	if !ok {
		return next, false
	}
	if int64(sub) >= int64(len(opSigFC)) || opSigFC[sub] == 0 {
		return next, v.prefixed(OpMiscPrefix, pc)
	}
	v.op = OpMiscPrefix<<12 | sub
	pc = next
	switch opImmFC[sub] {
	case immMemory:
		pc, ok = v.memory(pc)
	case immMem2:
		if pc, ok = v.memory(pc); ok {
			pc, ok = v.memory(pc)
		}
	case immData:
		_, pc, ok = v.data(pc)
	case immDatamem:
		if _, pc, ok = v.data(pc); ok {
			pc, ok = v.memory(pc)
		}
	case immElem:
		_, pc, ok = v.elem(pc)
	case immElemtable:
		pc, ok = v.tableInit(pc)
	case immTable2:
		pc, ok = v.tableCopy(pc)
	case immTable:
		return v.tableOp(sub, pc)
	}
	return pc, ok && v.apply(opSigFC[sub])
}

func (v *Validator) tableInit(pc int) (int, bool) {
	elem, pc, ok := v.elem(pc)
	if !ok {
		return pc, false
	}
	at := pc
	table, pc, ok := v.table(pc)
	if !ok {
		return pc, false
	}
	if have, want := v.Mod.Elems[elem].Type, v.Mod.Tables[table].Elem; have != want {
		return pc, v.failAt(at, CodeType, "table.init: expected elements of type %s for table %d, found %s", want, table, have)
	}
	return pc, true
}

func (v *Validator) tableCopy(pc int) (int, bool) {
	to, pc, ok := v.table(pc)
	if !ok {
		return pc, false
	}
	at := pc
	from, pc, ok := v.table(pc)
	if !ok {
		return pc, false
	}
	if have, want := v.Mod.Tables[from].Elem, v.Mod.Tables[to].Elem; have != want {
		return pc, v.failAt(at, CodeType, "table.copy: expected elements of type %s for table %d, found %s", want, to, have)
	}
	return pc, true
}

// tableOp validates table.size, table.grow and table.fill.
func (v *Validator) tableOp(sub uint32, pc int) (int, bool) {
	i, next, ok := v.table(pc)
	if !ok {
		return next, false
	}
	t := v.Mod.Tables[i].Elem
	switch OpMiscPrefix<<12 | sub {
	case OpTableSize:
		v.Push(I32)
	case OpTableGrow:
		if !v.pop(I32) || !v.pop(t) {
			return next, false
		}
		v.Push(I32)
	case OpTableFill:
		return next, v.pop(I32) && v.pop(t) && v.pop(I32)
	}
	return next, true
}
