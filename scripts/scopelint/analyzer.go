package main

import (
	"go/token"
	"go/types"
	"strings"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/buildssa"
	"golang.org/x/tools/go/ssa"
)

const (
	codemem      = "github.com/wasmjit/wasmjit/codemem"
	nativemodule = "github.com/wasmjit/wasmjit/nativemodule"
)

var analyzer = &analysis.Analyzer{
	Name:     "scopelint",
	Doc:      "write scopes opened in loops, and code memory written without a scope passed as a parameter",
	Requires: []*analysis.Analyzer{buildssa.Analyzer},
	Run:      run,
}

// checker is one package under the two checks.
type checker struct {
	pass    *analysis.Pass
	funcs   []*ssa.Function
	excuses *excuses
	told    map[token.Pos]bool
}

func run(pass *analysis.Pass) (any, error) {
	ir := pass.ResultOf[buildssa.Analyzer].(*buildssa.SSA)
	c := &checker{pass: pass, excuses: collectExcuses(pass), told: make(map[token.Pos]bool)}
	for _, f := range ir.SrcFuncs {
		if !isTest(pass.Fset, f.Pos()) {
			c.funcs = append(c.funcs, f)
		}
	}
	c.loops()
	// What codemem does itself is the implementation of the rule.
	if pass.Pkg.Path() != codemem {
		for _, f := range c.funcs {
			c.writes(f)
		}
	}
	c.excuses.reportIdle(pass)
	return nil, nil
}

func isTest(fset *token.FileSet, pos token.Pos) bool {
	return strings.HasSuffix(fset.Position(pos).Filename, "_test.go")
}

// report reports unless the line is excused, and once: the call in a literal
// and the making of the literal are one opening.
func (c *checker) report(pos token.Pos, format string, args ...any) {
	if !c.excuses.covers(pos) && !c.told[pos] {
		c.told[pos] = true
		c.pass.Reportf(pos, format, args...)
	}
}

// isScope reports whether t is *codemem.WriteScope.
func isScope(t types.Type) bool {
	p, ok := types.Unalias(t).(*types.Pointer)
	return ok && isNamed(p.Elem(), codemem, "WriteScope")
}

func isNamed(t types.Type, pkg, name string) bool {
	n, ok := types.Unalias(t).(*types.Named)
	return ok && n.Obj().Name() == name && n.Obj().Pkg() != nil && n.Obj().Pkg().Path() == pkg
}

// callee is the function or method that a call names, nil for a call of a
// function value or through an interface.
func callee(call *ssa.CallCommon) *types.Func {
	f := call.StaticCallee()
	if f == nil {
		return nil
	}
	fn, _ := f.Object().(*types.Func)
	return fn
}

func pkgPath(fn *types.Func) string {
	if fn == nil || fn.Pkg() == nil {
		return ""
	}
	return fn.Pkg().Path()
}

// opens reports whether a call opens a write scope: whether fn is an exported
// function of codemem that gives one.
func opens(fn *types.Func) bool {
	if pkgPath(fn) != codemem || !fn.Exported() {
		return false
	}
	results := fn.Signature().Results()
	for i := range results.Len() {
		if isScope(results.At(i).Type()) {
			return true
		}
	}
	return false
}
