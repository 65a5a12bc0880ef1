package liftoff_test

import (
	"encoding/binary"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/arch/arm64/arm64asm"
	"golang.org/x/arch/x86/x86asm"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/matrix"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
	"github.com/wasmjit/wasmjit/liftoff"
)

var update = flag.Bool("update", false, "rewrite the golden disassemblies")

// allCPU has every optional instruction, so that goldens don't depend on the
// host.
var allCPU = liftoff.CPU{Popcnt: true, Lzcnt: true, BMI1: true, BMI2: true}

// goldenFunc is a function whose disassembly stands in a golden file.
type goldenFunc struct {
	name    string
	params  []decoder.Type
	results []decoder.Type
	locals  []decoder.Type
	body    wasmtest.Code
	options liftoff.Options
}

// TestGolden compares the code of every opcode and operand form, and of the
// shapes of control flow and calls, with testdata/golden. After a change of the
// compiler run it with -update and read the difference.
func TestGolden(t *testing.T) {
	for _, arch := range arches {
		t.Run(arch.name, func(t *testing.T) { testGolden(t, arch) })
	}
}

// arch is a target and how its code is shown.
type arch struct {
	name   string
	arch   liftoff.Arch
	render func(*testing.T, *liftoff.Code) string
}

var arches = []arch{{"amd64", liftoff.AMD64, renderAMD64}, {"arm64", liftoff.ARM64, renderARM64}}

func testGolden(t *testing.T, arch arch) {
	for file, funcs := range goldenFiles(t) {
		if file == "baseline" && arch.arch != liftoff.AMD64 {
			continue
		}
		t.Run(file, func(t *testing.T) {
			var got strings.Builder
			for _, f := range funcs {
				f.options.Arch = arch.arch
				fmt.Fprintf(&got, "## %s\n%s\n", f.name, arch.render(t, compileGolden(t, f)))
			}
			path := filepath.Join("testdata", "golden", arch.name, file+".txt")
			if *update {
				if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(got.String()), 0o666); err != nil {
					t.Fatal(err)
				}
				return
			}
			want, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(string(want), got.String()); d != "" {
				t.Errorf("code changed; after reading the difference, run go test ./liftoff -run TestGolden -update\n%s", d)
			}
		})
	}
}

// goldenFiles gives the functions by golden file: one per class of opcodes,
// and those of goldenShapes.
func goldenFiles(t *testing.T) map[string][]goldenFunc {
	rows, err := matrix.Rows()
	if err != nil {
		t.Fatal(err)
	}
	files := goldenShapes()
	for _, r := range rows {
		operands, result, ok := r.Numeric()
		if !ok {
			continue
		}
		file := strings.ToLower(r.Class)
		for _, f := range operandForms(operands) {
			var body wasmtest.Code
			f.push(&body)
			op(&body, r.Op)
			files[file] = append(files[file], goldenFunc{
				name: r.Name + " " + f.name, params: f.params, results: []decoder.Type{result},
				body: body, options: liftoff.Options{CPU: allCPU},
			})
		}
		if baselineOps[r.Name] {
			var body wasmtest.Code
			f := operandForms(operands)[0]
			f.push(&body)
			op(&body, r.Op)
			files["baseline"] = append(files["baseline"], goldenFunc{
				name: r.Name, params: f.params, results: []decoder.Type{result}, body: body,
			})
		}
	}
	return files
}

// baselineOps are the opcodes whose code differs on a processor without the
// optional instructions.
var baselineOps = map[string]bool{
	"i32.clz": true, "i32.ctz": true, "i32.popcnt": true, "i64.clz": true, "i64.ctz": true, "i64.popcnt": true,
	"i32.shl": true, "i64.shr_s": true,
}

func op(c *wasmtest.Code, op uint32) {
	if op > 0xff {
		c.OpU(op)
		return
	}
	c.Op(byte(op))
}

// operandForm is a way for operands to arrive.
type operandForm struct {
	name   string
	params []decoder.Type
	push   func(*wasmtest.Code)
}

func operandForms(operands []decoder.Type) []operandForm {
	gets := func(c *wasmtest.Code) {
		for i := range operands {
			c.Get(uint32(i))
		}
	}
	forms := []operandForm{{"(local, ...)", operands, gets}}
	if len(operands) != 2 {
		return forms
	}
	constant := uint64(7)
	if operands[1].IsFloat() {
		constant = 0x4010000000000000
	}
	return append(forms,
		operandForm{"(local, const)", operands[:1], func(c *wasmtest.Code) { c.Get(0).Const(operands[1], constant) }},
		operandForm{"(const, local)", operands[:1], func(c *wasmtest.Code) { c.Const(operands[0], constant).Get(0) }})
}

// compileGolden compiles the function as the last of a module with a memory, a
// table and some others to call.
func compileGolden(t *testing.T, f goldenFunc) *liftoff.Code {
	t.Helper()
	m := wasmtest.New()
	i, l, fl := decoder.I32, decoder.I64, decoder.F64
	m.ImportFunc("m", "import", m.Type(wasmtest.Types(i), wasmtest.Types(i)))
	m.Memory(1, 2)
	m.Table(decoder.FuncRef, 4, 4)
	m.Global(i, 5)
	callee := m.Type(wasmtest.Types(i, l, fl), wasmtest.Types(l))
	m.Func("callee", callee, nil, *new(wasmtest.Code).Get(1))
	many := m.Type(wasmtest.Types(i, i, i, i, i, i), wasmtest.Types(i, i, i))
	m.Func("many", many, nil, *new(wasmtest.Code).Get(0).Get(4).Get(5))
	fn := m.Func("f", m.Type(f.params, f.results), f.locals, f.body)
	d, err := decoder.Decode(m.Bytes())
	if err != nil {
		t.Fatalf("%s: %v", f.name, err)
	}
	layout, err := liftoff.NewLayout(d)
	if err != nil {
		t.Fatal(err)
	}
	c, err := liftoff.New(d, layout, f.options)
	if err != nil {
		t.Fatal(err)
	}
	code, err := c.CompilePositions(fn)
	if err != nil {
		t.Fatalf("%s: %v", f.name, err)
	}
	return code
}

// trapNotes are the remarks for the trap positions.
func trapNotes(code *liftoff.Code) map[int]string {
	notes := map[int]string{}
	for _, p := range code.Positions {
		if p.Kind != liftoff.TrapNone {
			notes[int(p.Code)] = fmt.Sprintf("  ; trap %d", p.Kind)
		}
	}
	return notes
}

// renderAMD64 prints code with its trap positions; distances and addresses are
// relative to the function.
func renderAMD64(t *testing.T, code *liftoff.Code) string {
	t.Helper()
	notes := trapNotes(code)
	var b strings.Builder
	for at := 0; at < len(code.Bytes); {
		inst, err := x86asm.Decode(code.Bytes[at:], 64)
		if err != nil {
			t.Fatalf("at %#x of % x: %v", at, code.Bytes, err)
		}
		fmt.Fprintf(&b, "%4x  %s%s\n", at, x86asm.IntelSyntax(inst, uint64(at), nil), notes[at])
		at += inst.Len
	}
	return b.String()
}

// renderARM64 does the same for arm64.
func renderARM64(t *testing.T, code *liftoff.Code) string {
	t.Helper()
	notes := trapNotes(code)
	var b strings.Builder
	for at := 0; at < len(code.Bytes); at += 4 {
		word := binary.LittleEndian.Uint32(code.Bytes[at:])
		text := fmt.Sprintf("udf #%d", word) // which the decoder doesn't know
		if word>>16 != 0 {
			inst, err := arm64asm.Decode(code.Bytes[at:])
			if err != nil {
				t.Fatalf("at %#x of % x: %v", at, code.Bytes, err)
			}
			text = strings.TrimSpace(arm64asm.GNUSyntax(inst))
		}
		fmt.Fprintf(&b, "%4x  %s%s\n", at, text, notes[at])
	}
	return b.String()
}
