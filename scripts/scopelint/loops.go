package main

import (
	"go/token"

	"golang.org/x/tools/go/ssa"
)

// opening is how a function comes to open a scope: a call at pos of an opener
// of codemem, or of a function of this package that does.
type opening struct {
	pos  token.Pos
	name string // of the opener of codemem
	via  *ssa.Function
}

// loops reports openings inside loops. Loops are cycles of the flow graph, so
// goto and iterators count; a function literal that is made in a loop is part
// of it.
func (c *checker) loops() {
	found := make(map[*ssa.Function]*opening)
	// A chain of calls may be of any length; every round adds a link.
	for grown := true; grown; {
		grown = false
		for _, f := range c.funcs {
			if found[f] == nil {
				if o := c.firstOpening(f, found); o != nil {
					found[f], grown = o, true
				}
			}
		}
	}
	for _, f := range c.funcs {
		inLoop := cycles(f)
		enclosed := madeInLoop(f)
		for _, b := range f.Blocks {
			if !enclosed && !inLoop[b.Index] {
				continue
			}
			for _, i := range b.Instrs {
				if o := opensAt(i, found); o != nil {
					c.reportLoop(o, found)
				}
			}
		}
	}
}

// firstOpening is the first call in f that opens a scope and isn't excused.
func (c *checker) firstOpening(f *ssa.Function, found map[*ssa.Function]*opening) *opening {
	for _, b := range f.Blocks {
		for _, i := range b.Instrs {
			if o := opensAt(i, found); o != nil && !c.excuses.covers(o.pos) {
				return o
			}
		}
	}
	return nil
}

// opensAt gives the opening that an instruction is, or nil.
func opensAt(i ssa.Instruction, found map[*ssa.Function]*opening) *opening {
	call, ok := i.(ssa.CallInstruction)
	if !ok {
		if lit := literal(i); lit != nil && found[lit] != nil {
			return &opening{found[lit].pos, found[lit].name, found[lit].via}
		}
		return nil
	}
	if fn := callee(call.Common()); opens(fn) {
		return &opening{pos: i.Pos(), name: fn.Name()}
	}
	if f := call.Common().StaticCallee(); f != nil && found[f] != nil && f.Parent() == nil {
		return &opening{i.Pos(), found[f].name, f}
	}
	return nil
}

// literal is the function literal that an instruction makes a value of. Who
// makes one may call it, or have it called.
func literal(i ssa.Instruction) *ssa.Function {
	if m, ok := i.(*ssa.MakeClosure); ok {
		return m.Fn.(*ssa.Function)
	}
	return nil
}

func (c *checker) reportLoop(o *opening, found map[*ssa.Function]*opening) {
	if o.via == nil {
		c.report(o.pos, "write scope opened in a loop (%s): open it outside and pass it on", o.name)
		return
	}
	chain := o.via.Name()
	for f := found[o.via]; f.via != nil; f = found[f.via] {
		chain += ", " + f.via.Name()
	}
	c.report(o.pos, "write scope opened in a loop, through %s (%s): open it outside and pass it on", chain, o.name)
}

// madeInLoop reports whether f is a function literal that is made in a loop.
func madeInLoop(f *ssa.Function) bool {
	for ; f.Parent() != nil; f = f.Parent() {
		if f.Synthetic == "range-over-func yield" {
			return true // the body of a loop, as a function
		}
		inLoop := cycles(f.Parent())
		for _, b := range f.Parent().Blocks {
			for _, i := range b.Instrs {
				if inLoop[b.Index] && mentions(i, f) {
					return true
				}
			}
		}
	}
	return false
}

// mentions reports whether an instruction uses the function f.
func mentions(i ssa.Instruction, f *ssa.Function) bool {
	var operands [8]*ssa.Value
	for _, v := range i.Operands(operands[:0]) {
		if *v == ssa.Value(f) {
			return true
		}
	}
	return false
}

// cycles tells for every block of f whether it can be reached from itself.
func cycles(f *ssa.Function) []bool {
	in := make([]bool, len(f.Blocks))
	for _, b := range f.Blocks {
		seen := make([]bool, len(f.Blocks))
		work := append([]*ssa.BasicBlock(nil), b.Succs...)
		for len(work) > 0 && !in[b.Index] {
			s := work[len(work)-1]
			work = work[:len(work)-1]
			if s == b {
				in[b.Index] = true
			}
			if !seen[s.Index] {
				seen[s.Index] = true
				work = append(work, s.Succs...)
			}
		}
	}
	return in
}
