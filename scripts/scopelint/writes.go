package main

import (
	"go/constant"
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/ssa"
)

// writes reports writes of code memory in f that need a scope they don't have.
func (c *checker) writes(f *ssa.Function) {
	t := taintOf(f)
	for _, b := range f.Blocks {
		for _, i := range b.Instrs {
			if call, ok := i.(ssa.CallInstruction); ok {
				c.throughScope(i.Pos(), call.Common())
			}
			if pos, what := t.raw(i); what != "" {
				c.report(pos, "code memory %s past any write scope", what)
			}
		}
	}
}

// throughScope checks a call of a method of a scope: whose scope is it?
func (c *checker) throughScope(pos token.Pos, call *ssa.CallCommon) {
	fn := callee(call)
	if pkgPath(fn) != codemem || fn.Signature().Recv() == nil || !isScope(fn.Signature().Recv().Type()) {
		return
	}
	switch fn.Name() {
	case "Close", "Exit":
		return // these write nothing, and whoever keeps a scope must end it
	}
	if from := origin(call.Args[0], nil); from != "" {
		c.report(pos, "%s through a write scope from %s: take the scope as a parameter", fn.Name(), from)
	}
}

// origin says where a scope comes from, "" for a parameter or an opening in
// the same function.
func origin(v ssa.Value, seen []ssa.Value) string {
	for _, s := range seen {
		if s == v {
			return ""
		}
	}
	seen = append(seen, v)
	switch v := v.(type) {
	case *ssa.Parameter:
		return ""
	case *ssa.FreeVar:
		// A literal shares the scopes of the function that it stands in.
		return originOfFree(v, seen)
	case *ssa.Extract:
		return origin(v.Tuple, seen)
	case *ssa.Call:
		if opens(callee(v.Common())) {
			return ""
		}
		return "a function"
	case *ssa.Phi:
		for _, e := range v.Edges {
			if from := origin(e, seen); from != "" {
				return from
			}
		}
		return ""
	case *ssa.Const:
		return "" // nil, which panics
	case *ssa.UnOp:
		if v.Op == token.MUL {
			return originOfLoad(v.X, seen)
		}
	}
	return "somewhere else"
}

// originOfFree finds what a literal's variable is bound to.
func originOfFree(v *ssa.FreeVar, seen []ssa.Value) string {
	f := v.Parent()
	at := -1
	for i, fv := range f.FreeVars {
		if fv == v {
			at = i
		}
	}
	for _, b := range f.Parent().Blocks {
		for _, i := range b.Instrs {
			if m, ok := i.(*ssa.MakeClosure); ok && m.Fn == ssa.Value(f) {
				if a, ok := m.Bindings[at].(*ssa.Alloc); ok {
					return originOfLoad(a, seen)
				}
				return origin(m.Bindings[at], seen)
			}
		}
	}
	return "somewhere else"
}

func originOfLoad(addr ssa.Value, seen []ssa.Value) string {
	switch a := addr.(type) {
	case *ssa.FieldAddr:
		return "a field"
	case *ssa.IndexAddr:
		return "a slice"
	case *ssa.Global:
		return "a variable of the package"
	case *ssa.FreeVar:
		return originOfFree(a, seen)
	case *ssa.Alloc:
		for _, r := range *a.Referrers() {
			if s, ok := r.(*ssa.Store); ok && s.Addr == ssa.Value(a) {
				if from := origin(s.Val, seen); from != "" {
					return from
				}
			}
		}
		return ""
	}
	return "somewhere else"
}

// taint is the set of values in a function that are, or point into, code
// memory, as far as the function itself shows it.
type taint map[ssa.Value]bool

// taintOf follows the addresses that codemem and nativemodule give through
// arithmetic, conversions, slices and local variables.
func taintOf(f *ssa.Function) taint {
	t := make(taint)
	for grown := true; grown; {
		before := len(t)
		for _, b := range f.Blocks {
			for _, i := range b.Instrs {
				t.step(i)
			}
		}
		grown = len(t) > before
	}
	return t
}

func (t taint) step(i ssa.Instruction) {
	if s, ok := i.(*ssa.Store); ok {
		// A local variable that holds an address. The detour through
		// *(*unsafe.Pointer)(unsafe.Pointer(&addr)) reads it as well.
		if a, ok := s.Addr.(*ssa.Alloc); ok && t[s.Val] {
			t[a] = true
		}
		return
	}
	v, ok := i.(ssa.Value)
	if !ok || t[v] {
		return
	}
	switch v := v.(type) {
	case *ssa.Call:
		t[v] = givesAddress(v.Common()) || isBuiltin(v.Common(), "Slice") && t[v.Common().Args[0]] || t.pointerFrom(v)
	case *ssa.Extract:
		t[v] = t[v.Tuple] && isAddress(v.Type())
	case *ssa.Phi:
		for _, e := range v.Edges {
			t[v] = t[v] || t[e]
		}
	case *ssa.BinOp:
		switch v.Op {
		case token.ADD, token.SUB, token.AND, token.AND_NOT, token.OR:
			t[v] = t[v.X] || t[v.Y]
		}
	case *ssa.Convert:
		t[v] = t[v.X]
	case *ssa.ChangeType:
		t[v] = t[v.X]
	case *ssa.UnOp:
		t[v] = v.Op == token.MUL && isLocal(v.X) && t[v.X]
	case *ssa.Slice:
		t[v] = t[v.X]
	case *ssa.IndexAddr:
		t[v] = t[v.X]
	case *ssa.FieldAddr:
		t[v] = t[v.X] && !isLocal(v.X)
	}
	if !t[v] {
		delete(t, v)
	}
}

// pointerFrom reports whether a call turns an address of code into a pointer
// or slice, as the helpers do that hide unsafe conversions.
func (t taint) pointerFrom(v *ssa.Call) bool {
	switch u := v.Type().Underlying().(type) {
	case *types.Pointer, *types.Slice:
	case *types.Basic:
		if u.Kind() != types.UnsafePointer {
			return false
		}
	default:
		return false
	}
	for _, a := range v.Common().Args {
		if t[a] && isAddress(a.Type()) {
			return true
		}
	}
	return false
}

// isLocal reports whether v is the address of a local variable, or that
// converted.
func isLocal(v ssa.Value) bool {
	switch v := v.(type) {
	case *ssa.Alloc:
		return true
	case *ssa.Convert:
		return isLocal(v.X)
	}
	return false
}

func isAddress(t types.Type) bool {
	b, ok := t.Underlying().(*types.Basic)
	return ok && b.Kind() == types.Uintptr
}

// givesAddress reports whether a call gives an address of code.
func givesAddress(call *ssa.CallCommon) bool {
	fn := callee(call)
	if p := pkgPath(fn); p != codemem && p != nativemodule {
		return false
	}
	results := fn.Signature().Results()
	for i := range results.Len() {
		if isAddress(results.At(i).Type()) {
			return true
		}
	}
	return false
}

func isBuiltin(call *ssa.CallCommon, name string) bool {
	b, ok := call.Value.(*ssa.Builtin)
	return ok && b.Name() == name
}

// raw says what an instruction does to code memory, "" for nothing.
func (t taint) raw(i ssa.Instruction) (token.Pos, string) {
	if s, ok := i.(*ssa.Store); ok {
		if t[s.Addr] && !isLocal(s.Addr) {
			return s.Pos(), "written"
		}
		return 0, ""
	}
	ci, ok := i.(ssa.CallInstruction)
	if !ok {
		return 0, ""
	}
	call := ci.Common()
	if len(call.Args) == 0 {
		return 0, ""
	}
	if isBuiltin(call, "copy") || isBuiltin(call, "clear") {
		if t[call.Args[0]] {
			return i.Pos(), "written"
		}
		return 0, ""
	}
	fn := callee(call)
	switch pkgPath(fn) {
	case "sync/atomic":
		if t[call.Args[0]] && !strings.HasPrefix(fn.Name(), "Load") {
			return i.Pos(), "written"
		}
	case "golang.org/x/sys/unix", "syscall":
		for _, a := range call.Args {
			if t[a] && changesRights(fn.Name(), call.Args[0]) {
				return i.Pos(), "given other rights"
			}
		}
	}
	return 0, ""
}

// mprotect and mmap by number, which doesn't depend on who checks: linux/amd64
// and linux/arm64.
var rightsCalls = map[int64]bool{9: true, 10: true, 329: true, 222: true, 226: true, 288: true}

// changesRights reports whether a function of x/sys/unix or syscall changes
// the protection of pages.
func changesRights(name string, first ssa.Value) bool {
	switch {
	case name == "Mprotect", name == "MmapPtr":
		return true
	case strings.Contains(name, "Syscall"):
		k, ok := first.(*ssa.Const)
		if !ok || k.Value == nil || k.Value.Kind() != constant.Int {
			return false
		}
		n, _ := constant.Int64Val(k.Value)
		return rightsCalls[n]
	}
	return false
}
