package decoder

import (
	"math/rand/v2"
	"testing"
)

// begin starts on function 0 of oneFunc, whose code is given.
func begin(t *testing.T, params, results []Type, code []byte) (*Validator, int) {
	t.Helper()
	m, err := Decode(oneFunc(params, results, cat([]byte{0}, code)))
	if err != nil {
		t.Fatal(err)
	}
	v := &Validator{Mod: m}
	pc, ok := v.Begin(0)
	if !ok {
		t.Fatal(v.Err())
	}
	return v, pc
}

func TestSkipDead(t *testing.T) {
	i32 := types(I32)
	for _, c := range []struct {
		name    string
		results []Type
		code    []byte
		dead    bool
		from    int // first byte of the dead code
		stop    int // the end or else found, -1 for an error
	}{
		{"function", i32, []byte{OpUnreachable, OpI32Add, OpEnd}, true, 1, 2},
		{"not polymorphic", i32, []byte{OpUnreachable, OpI32Add, OpEnd}, false, 1, -1},
		{"not polymorphic but right", i32, []byte{OpUnreachable, OpI32Const, 1, OpEnd}, false, 1, 3},
		{"wrong result", i32, []byte{OpUnreachable, OpI64Const, 1, OpEnd}, true, 1, -1},
		{"nested", nil, []byte{OpReturn, OpBlock, 0x40, OpI32Const, 0, OpIf, 0x40, OpElse, OpEnd, OpEnd, OpDrop, OpEnd}, true, 1, 11},
		{"behind the end", nil, []byte{OpReturn, OpEnd, OpNop}, true, 1, 1},
		{"unfinished", nil, []byte{OpReturn, OpBlock, 0x40, OpEnd}, true, 1, -1},
		{"else of the function", nil, []byte{OpReturn, OpElse, OpEnd}, true, 1, -1},
		{"bad opcode", nil, []byte{OpReturn, 0xff, OpEnd}, true, 1, -1},
	} {
		t.Run(c.name, func(t *testing.T) {
			v, start := begin(t, nil, c.results, c.code)
			v.Ctl[0].Dead = c.dead
			next, ok := v.SkipDead(start + c.from)
			if ok != (c.stop >= 0) || ok == (v.Err() != nil) {
				t.Fatalf("ok = %v, error %v", ok, v.Err())
			}
			if ok && next-start != c.stop {
				t.Errorf("stopped at byte %d, want %d", next-start, c.stop)
			}
			if ok && (v.D != 1 || v.Ctl[0].Op != OpBlock) {
				t.Errorf("%d frames open, first of opcode %#x", v.D, v.Ctl[0].Op)
			}
		})
	}
}

// TestSkipDeadArm stops at the else of an if, and checks an if without else.
func TestSkipDeadArm(t *testing.T) {
	for _, c := range []struct {
		code []byte
		stop int
	}{
		{[]byte{OpI32Const, 0, OpIf, 0x7f, OpUnreachable, OpI32Const, 1, OpElse, OpI32Const, 2, OpEnd, OpEnd}, 7},
		{[]byte{OpI32Const, 0, OpIf, 0x7f, OpUnreachable, OpI32Const, 1, OpEnd, OpEnd}, -1},
		{[]byte{OpI32Const, 0, OpIf, 0x40, OpUnreachable, OpEnd, OpI32Const, 1, OpEnd}, 5},
	} {
		v, start := begin(t, nil, types(I32), c.code)
		sig, next := v.BlockSig(start + 3)
		if next != start+4 {
			t.Fatalf("block type ends at %d", next-start)
		}
		v.PushControl(OpIf, sig, start+2)
		v.Ctl[1].Dead = true
		next, ok := v.SkipDead(start + 5)
		if ok != (c.stop >= 0) || ok && next-start != c.stop {
			t.Errorf("% x: stopped at byte %d, %v; want %d", c.code, next-start, ok, c.stop)
		}
		if ok && (v.D != 2 || v.Ctl[1].Op != OpIf || v.Ctl[1].Offset != uint32(start+2)) {
			t.Errorf("% x: frame %+v of %d", c.code, v.Ctl[1], v.D)
		}
	}
}

// compileLike walks a body as the compiler does: it checks live code with the
// small methods only and leaves what can't run to SkipDead, which includes
// code behind a block that no path reaches the end of.
func compileLike(v *Validator, pc int) bool {
	reached := []bool{false} // per frame: a branch to its end exists
	dead := func(next int) (int, bool) {
		v.H = v.Floor
		v.Ctl[v.D-1].Dead = true
		return v.SkipDead(next)
	}
	for {
		if pc >= v.End {
			return false
		}
		op := Byte(v.Base, pc)
		at := pc
		pc++
		ok := true
		alive := true // code before an else or end runs
		switch op {
		case OpI32Const:
			_, pc = S32(v.Base, pc)
			v.Push(I32)
		case OpI64Const:
			_, pc = S64(v.Base, pc)
			v.Push(I64)
		case OpDrop:
			if ok = v.H > v.Floor; ok {
				v.H--
			}
		case OpI32Add:
			if ok = v.CheckTop([]Type{I32, I32}); ok {
				v.H--
			}
		case OpBlock, OpLoop, OpIf:
			if op == OpIf {
				if ok = v.CheckTop(single[I32 : I32+1]); !ok {
					return false
				}
				v.H--
			}
			var sig BlockType
			if sig, pc = v.BlockSig(pc); pc > v.End || !v.CheckTop(v.Mod.BlockParams(sig)) {
				return false
			}
			v.PushControl(op, sig, at)
			reached = append(reached, false)
		case OpBr, OpBrIf:
			var label uint32
			label, pc = U32(v.Base, pc)
			if op == OpBrIf {
				if !v.CheckTop(single[I32 : I32+1]) {
					return false
				}
				v.H--
			}
			if pc > v.End || int(label) >= v.D || !v.CheckTop(v.LabelTypes(&v.Ctl[v.D-1-int(label)])) {
				return false
			}
			c := v.D - 1 - int(label)
			reached[c] = reached[c] || v.Ctl[c].Op != OpLoop
			if op == OpBr {
				pc, ok = dead(pc)
				alive = false
			}
		case OpUnreachable:
			pc, ok = dead(pc)
			alive = false
		case OpElse, OpEnd:
			pc = at
		default:
			return false
		}
		if !ok || pc > v.End {
			return false
		}
		for pc < v.End && (!alive || op == OpElse || op == OpEnd) {
			// At an else or end, reached or not.
			op, alive = closeFrame(v, &reached, &pc, alive)
			if op == 0 {
				return false
			}
			if v.D == 0 {
				return pc == v.End
			}
			if op == OpEnd && !alive {
				// Reachable to validation, but not at run time.
				if pc, ok = v.SkipDead(pc); !ok {
					return false
				}
				continue
			}
			break
		}
	}
}

// closeFrame consumes the else or end at *pc and reports whether what follows
// can run; opcode 0 is an error.
func closeFrame(v *Validator, reached *[]bool, pc *int, alive bool) (byte, bool) {
	c := &v.Ctl[v.D-1]
	op := Byte(v.Base, *pc)
	*pc++
	results := v.Mod.BlockResults(c.Sig)
	if alive && (v.H-v.Floor != len(results) || !v.CheckTop(results)) {
		return 0, false
	}
	r := *reached
	top := len(r) - 1
	if op == OpElse {
		if c.Op != OpIf {
			return 0, false
		}
		r[top] = r[top] || alive
		c.Op, c.Dead = OpElse, false
		v.H = v.Floor
		for _, t := range v.Mod.BlockParams(c.Sig) {
			v.Push(t)
		}
		return op, true
	}
	if c.Op == OpIf {
		if !(&FuncType{Params: v.Mod.BlockParams(c.Sig)}).Equal(&FuncType{Params: results}) {
			return 0, false
		}
		r[top] = true
	}
	alive = alive || r[top]
	*reached = r[:top]
	v.H = int(c.Height)
	v.PopControl()
	for _, t := range results {
		v.Push(t)
	}
	return op, alive
}

// randomCode writes a body that is often valid.
func randomCode(r *rand.Rand) []byte {
	var b []byte
	depth := 0
	for range 1 + r.IntN(14) {
		switch r.IntN(12) {
		case 0, 1, 2:
			b = append(b, OpI32Const, 1)
		case 3:
			b = append(b, OpI64Const, 1)
		case 4:
			b = append(b, OpDrop)
		case 5:
			b = append(b, OpI32Add)
		case 6:
			b = append(b, []byte{OpBlock, OpLoop, OpIf}[r.IntN(3)], []byte{0x40, 0x7f, 3}[r.IntN(3)])
			depth++
		case 7:
			b = append(b, []byte{OpBr, OpBrIf}[r.IntN(2)], byte(r.IntN(depth+1)))
		case 8:
			b = append(b, OpUnreachable)
		case 9:
			if depth > 0 {
				b = append(b, OpElse)
			}
		default:
			if depth > 0 {
				b = append(b, OpEnd)
				depth--
			}
		}
	}
	for ; depth >= 0; depth-- {
		b = append(b, OpEnd)
	}
	return b
}

// TestCompilerAgrees checks on random bodies that the compiler's use of a
// Validator accepts exactly what the careful walk accepts.
func TestCompilerAgrees(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	valid := 0
	for range 30000 {
		code := randomCode(r)
		v, pc := begin(t, nil, types(I32)[:r.IntN(2)], code)
		have := compileLike(v, pc)
		err := v.Mod.ValidateBody(0)
		if have != (err == nil) {
			t.Fatalf("% x: compiled %v, validation says %v", code, have, err)
		}
		if have {
			valid++
		}
	}
	if valid < 1000 {
		t.Errorf("only %d valid bodies: the test has lost its point", valid)
	}
}
