package matrix

import (
	"errors"
	"fmt"
	"maps"
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/engine"
	"github.com/wasmjit/wasmjit/internal/refinterp"
	"github.com/wasmjit/wasmjit/internal/testenv"
)

// elsewhere says which test covers a supported opcode whose meaning is no
// function of numbers. A row that is neither here nor numeric fails.
var elsewhere = map[string]string{
	"unreachable": "control", "nop": "control", "block": "control", "loop": "control", "if": "control",
	"else": "control", "end": "control", "br": "control", "br_if": "control", "br_table": "control",
	"return": "control", "call": "calls", "call_indirect": "calls", "drop": "control",
	"select": "places", "select_t": "parametric",
	"local.get": "places", "local.set": "places", "local.tee": "places",
	"global.get": "places", "global.set": "places",
	"table.get": "tables", "table.set": "tables", "table.size": "tables", "table.grow": "tables",
	"table.fill": "tables", "table.copy": "tables", "table.init": "tables", "elem.drop": "tables",
	"memory.size": "memory", "memory.grow": "memory", "memory.init": "memory", "memory.copy": "memory",
	"memory.fill": "memory", "data.drop": "memory",
	"i32.const": "places", "i64.const": "places", "f32.const": "places", "f64.const": "places",
	"ref.null": "tables", "ref.is_null": "tables", "ref.func": "tables",
	"gc_prefix": "prefix", "misc_prefix": "prefix", "simd_prefix": "prefix", "threads_prefix": "prefix",
}

// TestRows demands that every opcode is covered by some test.
func TestRows(t *testing.T) {
	rows, err := Rows()
	if err != nil {
		t.Fatal(err)
	}
	numeric, memory := 0, 0
	left := maps.Clone(elsewhere)
	for i := range rows {
		r := &rows[i]
		operands, _, isNumeric := r.Numeric()
		switch {
		case !r.Supported():
		case isNumeric:
			numeric++
			if n := refinterp.Arity(r.Op); n != len(operands) {
				t.Errorf("%s has %d operands in ops.txt, %d in the reference interpreter", r.Name, len(operands), n)
			}
		case r.Imm == "mem" && accessOf(r) != nil:
			memory++
		case elsewhere[r.Name] == "":
			t.Errorf("no test covers %s (class %s)", r.Name, r.Class)
		default:
			delete(left, r.Name)
		}
	}
	for name := range left {
		t.Errorf("%s is named as covered elsewhere, but isn't such a row", name)
	}
	if numeric < 130 || memory < 23 {
		t.Errorf("%d numeric opcodes and %d loads and stores: the table was not understood", numeric, memory)
	}
}

// TestNumeric runs the matrix of the numeric opcodes.
func TestNumeric(t *testing.T) {
	rows, err := Rows()
	if err != nil {
		t.Fatal(err)
	}
	forEngines(t, func(t *testing.T, open open) { runNumeric(t, open, rows) })
	if mode := testenv.Get(t); mode.Default() {
		mode.BaselineCPU = true
		t.Run(mode.String(), func(t *testing.T) { runNumeric(t, liftoff(mode), rows) })
	}
}

func runNumeric(t *testing.T, open open, rows []Row) {
	functions, calls := 0, 0
	for i := range rows {
		r := &rows[i]
		if _, _, ok := r.Numeric(); !ok {
			continue
		}
		b := build(r)
		functions += len(b.variants)
		t.Run(r.Name, func(t *testing.T) {
			calls += runRow(t, open(t), r, b)
		})
	}
	t.Logf("%d functions, %d calls", functions, calls)
}

// maxFaults is how many mismatches of one opcode are printed.
const maxFaults = 5

// runRow calls every function of a row's module and gives their number.
func runRow(t *testing.T, e engine.Engine, r *Row, b *builder) int {
	in := instantiate(t, e, b.m.Bytes(), nil)
	calls, faults := 0, 0
	for _, v := range b.variants {
		f := in.Func(v.export)
		if f == nil {
			t.Fatalf("no export %s", v.export)
		}
		for _, args := range v.inputs {
			calls++
			if msg := b.check(f, r.Op, &v, args); msg != "" {
				faults++
				if faults <= maxFaults {
					t.Errorf("%s: %s(%x): %s", v.name, r.Name, args, msg)
				}
			}
		}
	}
	if faults > maxFaults {
		t.Errorf("and %d more", faults-maxFaults)
	}
	return calls
}

// check makes one call and says what is wrong with its outcome. Arguments
// of 32 bits come with garbage above.
func (b *builder) check(f engine.Func, op uint32, v *variant, args []uint64) string {
	want, wantTrap := refinterp.Numeric(op, args[0], args[len(args)-1])
	got, err := f.Call(b.dirty(args)...)
	if err != nil || wantTrap != "" {
		return checkTrap(err, wantTrap)
	}
	ok := refinterp.Accepts(op, want, got[0], args...)
	if v.use.want != nil {
		want = v.use.want(want)
		ok = got[0] == want
	}
	if !ok {
		return fmt.Sprintf("got 0x%x, want 0x%x", got[0], want)
	}
	if v.use.reread {
		for i := range args {
			if got[i+1] != args[i] {
				return fmt.Sprintf("parameter %d is 0x%x afterwards", i, got[i+1])
			}
		}
	}
	return ""
}

// dirty puts garbage above arguments of 32 bits.
func (b *builder) dirty(args []uint64) []uint64 {
	passed := append([]uint64(nil), args...)
	for i, t := range b.operands {
		if t == decoder.I32 || t == decoder.F32 {
			passed[i] |= garbage
		}
	}
	return passed
}

// checkTrap compares an error with the trap that was to come, "" for none.
func checkTrap(err error, want string) string {
	var f *engine.Failure
	switch {
	case err == nil:
		return fmt.Sprintf("no trap, want %q", want)
	case !errors.As(err, &f) || f.Stage != engine.Trapped || f.Msg != want:
		return fmt.Sprintf("got %v, want trap %q", err, want)
	}
	return ""
}
