package decoder

import (
	"fmt"
	"slices"
	"unsafe"
)

// Validator is the state of validating one function body: the operand and
// control stacks of the specification's appendix 7.3. The compiler uses the
// same stacks for its own bookkeeping and does the checks of live code
// itself, with the small methods of this file; only code that can't run is
// walked by SkipDead. A validator belongs to one goroutine and is reused from
// function to function without allocating.
//
// Set Mod, then call Begin for each function.
type Validator struct {
	Mod *Module

	// Ops[:H] is the operand stack; Push may move it.
	Ops []Operand
	// H is the number of operands.
	H int
	// Floor is the height of the innermost frame: operands below it can't be
	// popped.
	Floor int

	// Ctl[:D] is the control stack; Ctl[0] is the function body's frame. Its
	// Sig is the function's type, but the parameters are locals, not operands.
	Ctl []Control
	// D is the number of control frames.
	D int

	// Locals are the types of parameters and locals.
	Locals []Type

	// Base is the address of Mod.Bytes[0]; positions are offsets from it. End
	// is the position behind the body.
	Base unsafe.Pointer
	End  int

	fn  uint32
	at  int    // position of the opcode being validated
	op  uint32 // that opcode, as OpName takes it
	err *Error
}

// Err gives the first error found since Begin, or nil.
func (v *Validator) Err() *Error { return v.err }

// Begin starts on function fn, which must not be an import: it reads the
// local declarations, fills Locals and pushes the function's frame. pc is the
// position of the first opcode.
func (v *Validator) Begin(fn uint32) (pc int, ok bool) {
	m := v.Mod
	body := m.Bodies[fn-m.NumImportedFuncs]
	v.fn, v.err = fn, nil
	v.Base = unsafe.Pointer(unsafe.SliceData(m.Bytes))
	v.End = int(body.End)
	v.H, v.Floor, v.D = 0, 0, 0
	if v.Ops == nil {
		v.Ops = make([]Operand, 256)
		v.Ctl = make([]Control, 64)
	}
	pc, ok = v.readLocals(int(body.Start))
	v.pushFrame(Control{Op: OpBlock, Sig: BlockType(m.Funcs[fn]), Offset: body.Start})
	return pc, ok
}

// readLocals reads the local declarations, which are compressed as pairs of a
// count and a type.
func (v *Validator) readLocals(pc int) (int, bool) {
	v.Locals = append(v.Locals[:0], v.Mod.FuncType(v.fn).Params...)
	groups, pc, ok := v.index(pc, "the number of local declarations")
	if !ok {
		return pc, false
	}
	for ; groups > 0; groups-- {
		at := pc
		var n uint32
		if n, pc, ok = v.index(pc, "a number of locals"); !ok {
			return pc, false
		}
		if int64(len(v.Locals))+int64(n) > MaxLocals {
			return pc, v.failAt(at, CodeTooLarge, "%d locals are over the limit of %d", int64(len(v.Locals))+int64(n), MaxLocals)
		}
		if pc >= v.End {
			return pc, v.failEnd(pc, "the type of a local")
		}
		t := valTypeOf(Byte(v.Base, pc))
		if t == Bot {
			return pc, v.failType(pc, "the type of a local")
		}
		pc++
		have := len(v.Locals)
		v.Locals = slices.Grow(v.Locals, int(n))[:have+int(n)]
		group := v.Locals[have:]
		for i := range group {
			group[i] = t
		}
	}
	return pc, true
}

// Push pushes an operand of type t and returns its record, whose other fields
// hold what they held before. The record moves with the next Push.
//
// Push doesn't look at MaxOperands: what pushes many operands at once (call
// results, results of a frame that ended dead) must compare H with it after.
func (v *Validator) Push(t Type) (o *Operand) {
	if v.H >= len(v.Ops) {
		v.Ops = append(v.Ops, Operand{}) // unlike a call, within the inlining budget
	}
	o = v.Op(v.H)
	v.H++
	o.Type = t
	return
}

// Op is &Ops[i], unchecked: i must be within Ops. Operands below H are, and so
// are those popped since the last Push.
func (v *Validator) Op(i int) *Operand {
	return (*Operand)(unsafe.Add(unsafe.Pointer(unsafe.SliceData(v.Ops)), i*int(unsafe.Sizeof(Operand{}))))
}

// PushControl opens a frame whose parameters are on top of the operand stack.
// op is OpBlock, OpLoop or OpIf and pc its position.
func (v *Validator) PushControl(op byte, sig BlockType, pc int) {
	h := v.H
	if sig < BlockEmpty {
		h -= len(v.Mod.Types[sig].Params)
	}
	v.pushFrame(Control{Op: op, Sig: sig, Height: uint32(h), Offset: uint32(pc)})
}

func (v *Validator) pushFrame(c Control) {
	if v.D == len(v.Ctl) {
		v.Ctl = append(v.Ctl, make([]Control, len(v.Ctl))...)
	}
	v.Ctl[v.D] = c
	v.D++
	v.Floor = int(c.Height)
}

// PopControl closes the innermost frame. The operand stack is the caller's
// business: at an end it holds the frame's results above its height.
func (v *Validator) PopControl() {
	v.D--
	v.Floor = 0
	if v.D > 0 {
		v.Floor = int(v.Ctl[v.D-1].Height)
	}
}

// BlockSig reads a block type (spec 5.4.1) at pc. For a bad one it returns
// Malformed as the position behind it.
func (v *Validator) BlockSig(pc int) (BlockType, int) {
	b := Byte(v.Base, pc)
	if b == 0x40 {
		return BlockEmpty, pc + 1
	}
	if b > 0x40 && b < 0x80 {
		if t := valTypeOf(b); t != Bot {
			return BlockOne | BlockType(t), pc + 1
		}
		return 0, Malformed
	}
	i, next := S33(v.Base, pc)
	if i < 0 || i >= int64(len(v.Mod.Types)) {
		return 0, Malformed
	}
	return BlockType(i), next
}

// single[t:t+1] is the list of the one type t.
var single = [...]Type{Bot, I32, I64, F32, F64, V128, FuncRef, ExternRef}

// BlockParams gives the parameter types of a block type.
func (m *Module) BlockParams(b BlockType) []Type {
	if b >= BlockEmpty {
		return nil
	}
	return m.Types[b].Params
}

// BlockResults gives the result types of a block type.
func (m *Module) BlockResults(b BlockType) []Type {
	if b < BlockEmpty {
		return m.Types[b].Results
	}
	if b == BlockEmpty {
		return nil
	}
	t := b &^ BlockOne
	return single[t : t+1]
}

// LabelTypes gives the types that a branch to c's label carries: the
// parameters of a loop, else the results.
func (v *Validator) LabelTypes(c *Control) []Type {
	if c.Op == OpLoop {
		return v.Mod.BlockParams(c.Sig)
	}
	return v.Mod.BlockResults(c.Sig)
}

// CheckTop reports whether the topmost operands have these types, the last on
// top. It is for live code: an operand below Floor doesn't match.
func (v *Validator) CheckTop(types []Type) bool {
	h := v.H - len(types)
	if h < v.Floor {
		return false
	}
	for i, t := range types {
		if v.Ops[h+i].Type != t {
			return false
		}
	}
	return true
}

// SkipDead validates code that can't run, from pc to the else or end that
// closes the innermost frame, and returns the position of that opcode, which
// isn't consumed. The frame's Dead decides whether its operand stack is
// polymorphic; the operands Ops[Floor:H] must be what validation has there.
// Afterwards they are unspecified, the frame's results having been checked.
// When ok is false, Err tells why.
func (v *Validator) SkipDead(pc int) (next int, ok bool) { return v.walk(pc, v.D) }

// index reads an unsigned integer at pc; what names it.
func (v *Validator) index(pc int, what string) (uint32, int, bool) {
	i, next := U32(v.Base, pc)
	if next > v.End {
		return 0, next, v.failLEB(pc, 5, what)
	}
	return i, next, true
}

// failAt records an error at a position of the module and returns false. The
// first error since Begin stays.
func (v *Validator) failAt(pc int, code ErrorCode, format string, args ...any) bool {
	if v.err == nil {
		v.err = &Error{
			Offset: int64(pc), Func: int64(v.fn), FuncName: v.Mod.FuncName(v.fn),
			Code: code, Msg: fmt.Sprintf(format, args...),
		}
	}
	return false
}

// failOp records an error of the current opcode; the message starts with its
// name.
func (v *Validator) failOp(code ErrorCode, format string, args ...any) bool {
	return v.failAt(v.at, code, "%s: %s", OpName(v.op), fmt.Sprintf(format, args...))
}

func (v *Validator) failUnsupported(pc int, feature, msg string) bool {
	if v.err == nil {
		v.failAt(pc, CodeUnsupported, "%s", msg)
		v.err.Feature = feature
	}
	return false
}

func (v *Validator) failEnd(pc int, what string) bool {
	return v.failAt(min(pc, v.End), CodeTruncated, "expected %s, found the end of the function body", what)
}

// failLEB tells what is wrong with an integer at pc of at most most bytes.
func (v *Validator) failLEB(pc, most int, what string) bool {
	switch lebFault(v.Base, pc, v.End, most) {
	case lebTruncated:
		return v.failEnd(pc, what)
	case lebTooLong:
		return v.failAt(pc, CodeLEB, "expected %s, found an integer of more than %d bytes", what, most)
	}
	return v.failAt(pc, CodeLEB, "expected %s, found an integer that is too large", what)
}

// failType reports the byte at pc, which isn't the type that what names.
func (v *Validator) failType(pc int, what string) bool {
	b := Byte(v.Base, pc)
	if f := typeFeature(b); f != "" {
		return v.failUnsupported(pc, f, unsupported(f, fmt.Sprintf("type 0x%02x", b)))
	}
	return v.failAt(pc, CodeEncoding, "expected %s, found 0x%02x", what, b)
}

// failOperands reports that the current opcode wants operands of these types
// and doesn't find them.
func (v *Validator) failOperands(want []Type) bool {
	from := max(v.Floor, v.H-len(want))
	return v.failOp(CodeType, "expected %s, found %s", typeList(want), v.operands(from))
}

// operands renders the types of the operands from a height on.
func (v *Validator) operands(from int) string {
	t := make([]Type, 0, v.H-from)
	for _, o := range v.Ops[from:v.H] {
		t = append(t, o.Type)
	}
	return typeList(t)
}
