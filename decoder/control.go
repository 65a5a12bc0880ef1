package decoder

import "slices"

// This file has the typing rules of control instructions (spec 3.3.8).

// block opens a block, loop or if. Its parameters are popped and pushed again,
// so that unknown operands take the types that the block type says.
func (v *Validator) block(op byte, pc int) (int, bool) {
	sig, next := v.BlockSig(pc)
	if next > v.End {
		return next, v.failBlockType(pc)
	}
	if params := v.Mod.BlockParams(sig); len(params) > 0 {
		if !v.popAll(params) {
			return next, false
		}
		v.pushAll(params)
	}
	v.PushControl(op, sig, v.at)
	return next, true
}

// failBlockType tells what is wrong with the block type at pc.
func (v *Validator) failBlockType(pc int) bool {
	const what = "a block type"
	if pc >= v.End {
		return v.failEnd(pc, what)
	}
	if b := Byte(v.Base, pc); b >= 0x40 && b < 0x80 {
		return v.failType(pc, what)
	}
	i, next := S33(v.Base, pc)
	switch {
	case next > v.End:
		return v.failLEB(pc, 5, what)
	case i < 0:
		return v.failAt(pc, CodeEncoding, "expected %s, found %d", what, i)
	}
	return v.failAt(pc, CodeIndex, "unknown type %d as a block type: the module has %d types", i, len(v.Mod.Types))
}

// checkResults checks that exactly the results of the innermost frame are on
// its operand stack.
func (v *Validator) checkResults() bool {
	results := v.Mod.BlockResults(v.Ctl[v.D-1].Sig)
	if n := v.H - v.Floor; n > len(results) || !v.matches(results) {
		return v.failOp(CodeType, "expected %s as the results of %s, found %s", typeList(results), v.frameName(), v.operands(v.Floor))
	}
	return true
}

// endFrame checks what an end demands of the innermost frame: its results,
// and that an if without else gives back its parameters.
func (v *Validator) endFrame() bool {
	if !v.checkResults() {
		return false
	}
	c := &v.Ctl[v.D-1]
	if c.Op != OpIf {
		return true
	}
	params, results := v.Mod.BlockParams(c.Sig), v.Mod.BlockResults(c.Sig)
	if !slices.Equal(params, results) {
		return v.failOp(CodeType, "expected an else, since the if at %#x turns %s into %s", c.Offset, typeList(params), typeList(results))
	}
	return true
}

func (v *Validator) frameName() string {
	if v.D == 1 {
		return "the function"
	}
	return "the " + opNames[v.Ctl[v.D-1].Op]
}

// end closes the innermost frame; its results become operands of the one
// around it.
func (v *Validator) end() bool {
	if !v.endFrame() {
		return false
	}
	c := &v.Ctl[v.D-1]
	v.H = int(c.Height)
	v.PopControl()
	v.pushAll(v.Mod.BlockResults(c.Sig))
	return true
}

// checkElse checks the end of the first arm of an if.
func (v *Validator) checkElse() bool {
	c := &v.Ctl[v.D-1]
	if c.Op != OpIf {
		return v.failOp(CodeNesting, "expected an if that it belongs to, found %s", v.frameName())
	}
	return v.checkResults()
}

func (v *Validator) elseArm() bool {
	if !v.checkElse() {
		return false
	}
	c := &v.Ctl[v.D-1]
	c.Op, c.Dead = OpElse, false
	v.H = v.Floor
	v.pushAll(v.Mod.BlockParams(c.Sig))
	return true
}

// unreachable makes the operand stack of the innermost frame polymorphic.
func (v *Validator) unreachable() {
	v.H = v.Floor
	v.Ctl[v.D-1].Dead = true
}

// label reads a label at pc.
func (v *Validator) label(pc int) (uint32, int, bool) {
	i, next, ok := v.index(pc, "a label")
	if ok && int64(i) >= int64(v.D) {
		return 0, next, v.failAt(pc, CodeIndex, "unknown label %d: %d blocks are open", i, v.D)
	}
	return i, next, ok
}

// target gives the types that a branch to a label carries.
func (v *Validator) target(label uint32) []Type { return v.LabelTypes(&v.Ctl[v.D-1-int(label)]) }

func (v *Validator) branch(label uint32) bool {
	if types := v.target(label); !v.matches(types) {
		return v.failOperands(types)
	}
	v.unreachable()
	return true
}

func (v *Validator) branchIf(label uint32) bool {
	if !v.pop(I32) {
		return false
	}
	types := v.target(label)
	if !v.matches(types) {
		return v.failOperands(types)
	}
	if v.Ctl[v.D-1].Dead {
		// What the branch doesn't take has the label's types from here on.
		v.H = max(v.Floor, v.H-len(types))
		v.pushAll(types)
	}
	return true
}

func (v *Validator) branchTable(pc int) (int, bool) {
	at := pc
	n, pc, ok := v.index(pc, "the number of br_table targets")
	if !ok || !v.pop(I32) {
		return pc, false
	}
	if n > MaxBrTable {
		return pc, v.failAt(at, CodeTooLarge, "br_table with %d targets is over the limit of %d", n, MaxBrTable)
	}
	if int(n) >= v.End-pc {
		return pc, v.failAt(at, CodeTruncated, "expected %d labels, found only %d bytes to the end of the function body", n+1, v.End-pc)
	}
	var checked []Type // most targets of a table share their types
	for i := 0; i <= int(n); i++ {
		at = pc
		var label uint32
		if label, pc, ok = v.label(pc); !ok {
			return pc, false
		}
		types := v.target(label)
		if i > 0 {
			if len(types) != len(checked) {
				return pc, v.failAt(at, CodeType, "br_table: expected a label that takes %s, as the ones before do, found one that takes %s", typeList(checked), typeList(types))
			}
			if len(types) == 0 || &types[0] == &checked[0] {
				continue
			}
		}
		if !v.matches(types) {
			return pc, v.failOperands(types)
		}
		checked = types
	}
	v.unreachable()
	return pc, true
}

func (v *Validator) call(pc int) (int, bool) {
	i, next, ok := v.function(pc)
	if !ok {
		return next, false
	}
	return next, v.invoke(v.Mod.FuncType(i))
}

func (v *Validator) invoke(t *FuncType) bool {
	if len(t.Params) > 0 && !v.popAll(t.Params) {
		return false
	}
	v.pushAll(t.Results)
	return true
}

func (v *Validator) callIndirect(pc int) (int, bool) {
	at := pc
	typ, pc, ok := v.index(pc, "a type index")
	if !ok {
		return pc, false
	}
	if int64(typ) >= int64(len(v.Mod.Types)) {
		return pc, v.failAt(at, CodeIndex, "unknown type %d: the module has %d types", typ, len(v.Mod.Types))
	}
	at = pc
	table, pc, ok := v.table(pc)
	if !ok {
		return pc, false
	}
	if t := v.Mod.Tables[table].Elem; t != FuncRef {
		return pc, v.failAt(at, CodeType, "call_indirect: expected a table of funcref, found table %d of %s", table, t)
	}
	return pc, v.pop(I32) && v.invoke(&v.Mod.Types[typ])
}

func (v *Validator) selectUntyped() bool {
	if !v.pop(I32) {
		return false
	}
	const want = "a numeric type"
	b, ok := v.popAny(want)
	if !ok {
		return false
	}
	a, ok := v.popAny(want)
	if !ok {
		return false
	}
	if a.IsRef() || b.IsRef() {
		return v.failOp(CodeType, "expected operands of a numeric type, found %s and %s", a, b)
	}
	if a != b && a != Bot && b != Bot {
		return v.failOp(CodeType, "expected two operands of one type, found %s and %s", a, b)
	}
	if a == Bot {
		a = b
	}
	v.Push(a)
	return true
}

func (v *Validator) selectTyped(pc int) (int, bool) {
	at := pc
	n, pc, ok := v.index(pc, "the number of types of a select")
	if !ok {
		return pc, false
	}
	if n != 1 {
		return pc, v.failAt(at, CodeType, "select: expected one type, found %d", n)
	}
	if pc >= v.End {
		return pc, v.failEnd(pc, "a value type")
	}
	t := valTypeOf(Byte(v.Base, pc))
	if t == Bot {
		return pc, v.failType(pc, "a value type")
	}
	if !v.pop(I32) || !v.pop(t) || !v.pop(t) {
		return pc, false
	}
	v.Push(t)
	return pc + 1, true
}
