package main

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/wasmjit/wasmjit/internal/optable"
)

// emitLiftoff writes the compiler's dispatch: one dense switch from opcode to
// class function, which Go compiles to one indirect jump.
func emitLiftoff(b *bytes.Buffer, rows []optable.Row) {
	b.WriteString(`package liftoff

import "github.com/wasmjit/wasmjit/decoder"

// walk validates and compiles code from position pc to the end of the body.
// It returns the position behind the last opcode, or fail. Class functions
// take the position behind the opcode and return the one behind its
// immediates; what is beyond the body ends the loop.
func (c *Compiler) walk(pc int) int {
	base, end, settleAt := c.base, c.v.End, uint(maxUnflushed)
	if c.o.Reference {
		settleAt = settleNow
	}
	for pc < end {
		c.locked = 0
		c.reserve()
		if uint(c.v.H-c.flushed) >= settleAt && !c.settle() {
			return fail
		}
	next:
		c.at = pc
		op := decoder.Byte(base, pc)
		pc++
		switch op {
`)
	emitCases(b, rows, 0)
	b.WriteString("default:\nreturn fail\n}\n}\nreturn pc\n}\n\n")
	b.WriteString(`// walkMisc compiles an opcode behind prefix 0xfc.
func (c *Compiler) walkMisc(pc int) int {
	op, pc := decoder.U32(c.base, pc)
	if pc >= fail {
		return fail
	}
	switch op {
`)
	emitCases(b, rows, 0xfc)
	b.WriteString("}\nreturn fail\n}\n")
}

func emitCases(b *bytes.Buffer, rows []optable.Row, prefix byte) {
	for i := range rows {
		r := &rows[i]
		if r.Prefix != prefix || !r.Supported() {
			continue
		}
		if r.Class == "prefix" {
			if r.Code == 0xfc {
				fmt.Fprintf(b, "case %#02x:\npc = c.walkMisc(pc)\n", r.Code)
			}
			continue
		}
		fmt.Fprintf(b, "case %#02x: // %s\n", r.Code, r.Name)
		assign := "pc = "
		if prefix != 0 {
			assign = "return "
		}
		if r.Class == "nop" {
			continue
		}
		if fast := liftoffFast[r.Class+r.Imm]; fast != "" {
			b.WriteString(fast)
		}
		fmt.Fprintf(b, "%sc.%s\n", assign, liftoffCall(r))
	}
}

// liftoffFast is code in front of the call of a class function, by class and
// kind of immediate, for opcodes so frequent that the call costs more than the
// work: those that emit nothing, with a one-byte immediate.
var liftoffFast = map[string]string{
	"localGetlocal": "if n := int(decoder.Byte(base, pc)); n < 0x80 && n < len(c.locals) && c.locals[n].init {\n" +
		"c.pushAlias(c.locals[n].typ, uint32(n))\npc++\n" + liftoffNext,
	"consts64": "if n := decoder.Byte(base, pc); n < 0x80 {\n" +
		"c.pushConst(decoder.I64, uint64(int64(int8(n<<1))>>1))\npc++\n" + liftoffNext,
	"consts32": "if n := decoder.Byte(base, pc); n < 0x80 {\n" +
		"c.pushConst(decoder.I32, uint64(uint32(int32(int8(n<<1))>>1)))\npc++\n" + liftoffNext,
}

// liftoffNext goes to the next opcode. As nothing was emitted, most of what the
// loop does in front of an opcode is still done.
const liftoffNext = "if pc < end && uint(c.v.H-c.flushed) < settleAt {\ngoto next\n}\ncontinue\n}\n"

// liftoffCall gives the call of the row's class function.
func liftoffCall(r *optable.Row) string {
	if r.Class == "rtcall" {
		return fmt.Sprintf("rtcall(pc, %s)", r.Args[0])
	}
	name := r.Class
	switch name {
	case "if", "else", "return", "select":
		name += "Op"
	case "const":
		return fmt.Sprintf("const%s(pc)", optable.Camel(strings.TrimSuffix(r.Name, ".const")))
	}
	var args []string
	float := false
	for k, a := range r.Args {
		switch {
		case a == "W32" || a == "W64" || a == "F32" || a == "F64":
			if k == 0 && a[0] == 'F' {
				float = true
			}
			args = append(args, strings.ToLower(a))
		default:
			args = append(args, liftoffArg(r.Class, a, float)...)
		}
	}
	switch r.Class {
	case "binop", "unop", "cmp", "load", "store":
		if float {
			name = "f" + name
		}
	case "convert":
		switch r.Args[1] {
		case "WrapI64", "ExtendI32S", "ExtendI32U":
			name = "convertInt"
		}
		args[0] = map[string]string{"w32": "decoder.I32", "w64": "decoder.I64", "f32": "decoder.F32", "f64": "decoder.F64"}[args[0]]
	case "trunc":
		args = append(args, "false")
	case "truncSat":
		name, args = "trunc", append(args, "true")
	case "else":
		args = append(args, "true")
	}
	if len(args) == 0 {
		return name + "(pc)"
	}
	return name + "(pc, " + strings.Join(args, ", ") + ")"
}

// liftoffArg gives the Go expressions of one argument of a class function.
func liftoffArg(class, a string, float bool) []string {
	switch class {
	case "binop", "unop":
		if float {
			return []string{"opF" + a}
		}
		return []string{"op" + a}
	case "shift", "divrem":
		return []string{"op" + a}
	case "cmp":
		if !float {
			return []string{"cond" + a}
		}
		switch a {
		case "Lt":
			return []string{"condFGt", "true"}
		case "Le":
			return []string{"condFGe", "true"}
		}
		return []string{"condF" + a, "false"}
	case "load", "store":
		s := "mem" + strings.TrimPrefix(a, "M")
		if a == "M32U" {
			s = "mem32"
		}
		if a == "M8" || a == "M16" {
			s += "U"
		}
		return []string{s}
	case "convert":
		return []string{"conv" + a}
	case "trunc", "truncSat":
		return []string{fmt.Sprint(a == "Signed")}
	case "select":
		return []string{fmt.Sprint(a == "Typed")}
	}
	return []string{a}
}
