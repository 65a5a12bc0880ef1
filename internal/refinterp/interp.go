package refinterp

import (
	"errors"
	"fmt"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/engine"
)

// ErrOutOfFuel is the cause of a call that used up Store.Fuel.
var ErrOutOfFuel = errors.New("out of fuel")

func trap(msg string) error { return &engine.Failure{Stage: engine.Trapped, Msg: msg} }

// label is an entry of the label stack (spec 4.2.14).
type label struct {
	cont   uint32 // where a branch goes on
	arity  uint32 // operands a branch takes along
	height int    // operands below the block's
	loop   bool
}

// frame is an activation.
type frame struct {
	in     *instance
	stack  []uint64
	locals []uint64
	labels []label
}

func (f *frame) push(v uint64) { f.stack = append(f.stack, v) }

func (f *frame) pop() uint64 {
	v := f.stack[len(f.stack)-1]
	f.stack = f.stack[:len(f.stack)-1]
	return v
}

// branch does what br l does and gives the next instruction.
func (f *frame) branch(l uint32) uint32 {
	i := len(f.labels) - 1 - int(l)
	b := f.labels[i]
	vals := f.stack[len(f.stack)-int(b.arity):]
	f.stack = append(f.stack[:b.height], vals...)
	if b.loop {
		i++ // a loop's label stays
	}
	f.labels = f.labels[:i]
	return b.cont
}

func (f *frame) enter(in *instr, loop bool) {
	b := label{in.x, in.results, len(f.stack) - int(in.params), loop}
	if loop {
		b.arity = in.params
	}
	f.labels = append(f.labels, b)
}

// call runs a function of the store.
func (s *Store) call(f *function, args []uint64) ([]uint64, error) {
	if f.host != nil {
		stack := make([]uint64, max(len(f.ft.Params), len(f.ft.Results)))
		copy(stack, args)
		if err := f.host(stack); err != nil {
			return nil, &engine.Failure{Stage: engine.Broken, Msg: err.Error(), Err: err}
		}
		for i, t := range f.ft.Results {
			if t == decoder.I32 || t == decoder.F32 {
				stack[i] &= m32 // a 32-bit value has no upper half
			}
		}
		return stack[:len(f.ft.Results)], nil
	}
	if s.depth >= s.MaxDepth {
		return nil, &engine.Failure{Stage: engine.Exhausted, Msg: "call stack exhausted"}
	}
	s.depth++
	defer func() { s.depth-- }()
	fr := &frame{in: f.inst, locals: make([]uint64, len(args)+f.code.locals)}
	copy(fr.locals, args)
	fr.labels = append(fr.labels, label{uint32(len(f.code.instrs)), uint32(len(f.ft.Results)), 0, false})
	if err := s.run(fr, f.code); err != nil {
		return nil, err
	}
	return fr.stack, nil
}

// run executes a body to its end.
func (s *Store) run(f *frame, c *code) error {
	for pc := uint32(0); pc < uint32(len(c.instrs)); {
		in := &c.instrs[pc]
		pc++
		if s.fueled {
			if s.Fuel--; s.Fuel < 0 {
				return &engine.Failure{Stage: engine.Broken, Msg: ErrOutOfFuel.Error(), Err: ErrOutOfFuel}
			}
		}
		switch in.op {
		case opUnreachable:
			return trap("unreachable")
		case opNop:
		case opBlock:
			f.enter(in, false)
		case opLoop:
			f.enter(in, true)
		case opIf:
			cond := f.pop()
			f.enter(in, false)
			if uint32(cond) == 0 {
				pc = in.y
			}
		case opElse:
			pc = in.x // the end, which pops the label
		case opEnd:
			f.labels = f.labels[:len(f.labels)-1]
		case opBr:
			pc = f.branch(in.x)
		case opBrIf:
			if uint32(f.pop()) != 0 {
				pc = f.branch(in.x)
			}
		case opBrTable:
			l := in.x
			if i := uint32(f.pop()); i < uint32(len(in.targets)) {
				l = in.targets[i]
			}
			pc = f.branch(l)
		case opReturn:
			pc = f.branch(uint32(len(f.labels) - 1))
		case opCall:
			if err := s.invoke(f, f.in.funcs[in.x]); err != nil {
				return err
			}
		case opCallIndirect:
			if err := s.callIndirect(f, in); err != nil {
				return err
			}
		case opDrop:
			f.pop()
		case opSelect, opSelectT:
			cond, b := f.pop(), f.pop()
			if uint32(cond) == 0 {
				f.stack[len(f.stack)-1] = b
			}
		case opLocalGet:
			f.push(f.locals[in.x])
		case opLocalSet:
			f.locals[in.x] = f.pop()
		case opLocalTee:
			f.locals[in.x] = f.stack[len(f.stack)-1]
		case opGlobalGet:
			f.push(f.in.globals[in.x].bits)
		case opGlobalSet:
			f.in.globals[in.x].bits = f.pop()
		case opI32Const, opI64Const, opF32Const, opF64Const:
			f.push(in.imm)
		case opRefNull:
			f.push(0)
		case opRefIsNull:
			f.push(boolean(f.pop() == 0))
		case opRefFunc:
			f.push(f.in.funcs[in.x].ref)
		default:
			if err := f.other(in); err != nil {
				return err
			}
		}
	}
	return nil
}

// other executes numeric, memory and table instructions.
func (f *frame) other(in *instr) error {
	switch n := Arity(in.op); {
	case n == 1:
		r, t := Numeric(in.op, f.pop(), 0)
		if t != "" {
			return trap(t)
		}
		f.push(r)
		return nil
	case n == 2:
		b, a := f.pop(), f.pop()
		r, t := Numeric(in.op, a, b)
		if t != "" {
			return trap(t)
		}
		f.push(r)
		return nil
	case in.op >= opLoadFirst && in.op <= opMemoryGrow,
		in.op >= opMemoryInit && in.op <= opMemoryFill:
		return f.memoryOp(in)
	case in.op == opTableGet || in.op == opTableSet || in.op >= opTableInit && in.op <= opTableFill:
		return f.tableOp(in)
	}
	return &engine.Failure{Stage: engine.Broken, Msg: fmt.Sprintf("opcode 0x%x", in.op)}
}

func (s *Store) invoke(f *frame, callee *function) error {
	n := len(f.stack) - len(callee.ft.Params)
	res, err := s.call(callee, f.stack[n:])
	if err != nil {
		return err
	}
	f.stack = append(f.stack[:n], res...)
	return nil
}

func (s *Store) callIndirect(f *frame, in *instr) error {
	t := f.in.tables[in.y]
	i := f.pop() & m32
	if i >= uint64(len(t.elems)) {
		return trap("undefined element")
	}
	if t.elems[i] == 0 {
		return trap("uninitialized element")
	}
	callee := s.refs[t.elems[i]-1]
	if !callee.ft.Equal(&f.in.m.Types[in.x]) {
		return trap("indirect call type mismatch")
	}
	return s.invoke(f, callee)
}
