package main

import (
	"go/ast"
	"go/token"
	"strings"

	"golang.org/x/tools/go/analysis"
)

const directive = "//scopelint:ok"

// excuse is a comment that says why something is no mistake.
type excuse struct {
	pos  token.Pos
	used bool
}

type line struct {
	file   string
	number int
}

// excuses are those of a package: by the line that they stand on and the one
// below, and by the function whose comment they are part of.
type excuses struct {
	fset   *token.FileSet
	lines  map[line]*excuse
	bodies []body
	all    []*excuse
}

// body is the extent of a function that is excused as a whole.
type body struct {
	lo, hi token.Pos
	excuse *excuse
}

func collectExcuses(pass *analysis.Pass) *excuses {
	e := &excuses{fset: pass.Fset, lines: make(map[line]*excuse)}
	for _, file := range pass.Files {
		if isTest(pass.Fset, file.Pos()) {
			continue
		}
		docs := make(map[*ast.CommentGroup]*ast.FuncDecl)
		for _, d := range file.Decls {
			if f, ok := d.(*ast.FuncDecl); ok && f.Doc != nil {
				docs[f.Doc] = f
			}
		}
		for _, group := range file.Comments {
			for _, c := range group.List {
				reason, ok := strings.CutPrefix(c.Text, directive)
				if !ok {
					continue
				}
				if reason = strings.TrimSpace(reason); reason == "" || strings.HasPrefix(reason, "//") {
					pass.Reportf(c.Pos(), "%s without a reason", directive)
					continue
				}
				x := &excuse{pos: c.Pos()}
				e.all = append(e.all, x)
				if f := docs[group]; f != nil {
					e.bodies = append(e.bodies, body{f.Pos(), f.End(), x})
					continue
				}
				p := pass.Fset.Position(c.Pos())
				e.lines[line{p.Filename, p.Line}] = x
				e.lines[line{p.Filename, p.Line + 1}] = x
			}
		}
	}
	return e
}

// covers reports whether something at pos is excused.
func (e *excuses) covers(pos token.Pos) bool {
	p := e.fset.Position(pos)
	if x := e.lines[line{p.Filename, p.Line}]; x != nil {
		x.used = true
		return true
	}
	for _, b := range e.bodies {
		if b.lo <= pos && pos < b.hi {
			b.excuse.used = true
			return true
		}
	}
	return false
}

// reportIdle reports what excuses nothing, so that none outlives its cause.
func (e *excuses) reportIdle(pass *analysis.Pass) {
	for _, x := range e.all {
		if !x.used {
			pass.Reportf(x.pos, "%s excuses nothing", directive)
		}
	}
}
