package wast

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/wasmjit/wasmjit/internal/testenv"
)

func TestParse(t *testing.T) {
	const src = `;; comment (
(; block (; nested ;) ;)
(module definition $M binary
  "\00asm" "\01\00\00\00"
)
(module instance $I $M)
(module instance)
(register "x\u{e9}\n\"" $I)
(assert_return (invoke $I "f" (i32.const -1) (i64.const 0xffff_ffff_ffff_ffff)) (f32.const nan:canonical) (f64.const -0x1.8p+1))
(assert_trap (module binary "\00") "unreachable")
(assert_malformed (module quote "(func") "unexpected token")
(assert_return (get "g") (either (v128.const i8x16 0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 -1) (ref.null extern)))
(invoke "r" (ref.extern 3) (ref.host 4) (ref.func) (ref.null))
`
	got, err := Parse([]byte(src))
	if err != nil {
		t.Fatal(err)
	}
	scalar := func(op string, width int, bits uint64, nan NaN) Value {
		return Value{Op: op, Width: width, Lanes: []Lane{{bits, nan}}}
	}
	var lanes []Lane
	for i := range 15 {
		lanes = append(lanes, Lane{Bits: uint64(i)})
	}
	want := []Command{
		{Line: 3, Op: "module definition", Name: "$M", Bytes: []byte("\x00asm\x01\x00\x00\x00")},
		{Line: 6, Op: "module instance", Name: "$I", Of: "$M"},
		{Line: 7, Op: "module instance"},
		{Line: 8, Op: "register", As: "xé\n\"", Of: "$I"},
		{Line: 9, Op: "assert_return", Inner: &Command{Line: 9, Op: "invoke", Of: "$I", Field: "f",
			Args: []Value{scalar("i32.const", 32, 0xffffffff, NoNaN), scalar("i64.const", 64, 1<<64-1, NoNaN)}},
			Want: []Value{scalar("f32.const", 32, 0x7fc00000, Canonical), scalar("f64.const", 64, 0xc008000000000000, NoNaN)}},
		{Line: 10, Op: "assert_trap", Inner: &Command{Line: 10, Op: "module", Bytes: []byte{0}}, Text: "unreachable"},
		{Line: 11, Op: "assert_malformed", Inner: &Command{Line: 11, Op: "module", TextOnly: true}, Text: "unexpected token"},
		{Line: 12, Op: "assert_return", Inner: &Command{Line: 12, Op: "get", Field: "g"}, Want: []Value{{Op: "either", Alts: []Value{
			{Op: "v128.const", Width: 8, Lanes: append(lanes, Lane{Bits: 255})}, {Op: "ref.null", Heap: "extern"}}}}},
		{Line: 13, Op: "invoke", Field: "r", Args: []Value{
			{Op: "ref.extern", Ref: 3, HasRef: true}, {Op: "ref.host", Ref: 4, HasRef: true}, {Op: "ref.func"}, {Op: "ref.null"}}},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

func TestNumbers(t *testing.T) {
	for _, x := range []struct {
		text  string
		width int
		float bool
		want  uint64
	}{
		{"-2147483648", 32, false, 1 << 31},
		{"4294967295", 32, false, 1<<32 - 1},
		{"-0x80", 8, false, 0x80},
		{"1_000", 16, false, 1000},
		{"0x1p-149", 32, true, 1},
		{"0x1.fffffep+127", 32, true, 0x7f7fffff},
		{"-0", 32, true, 1 << 31},
		{"0x10", 64, true, 0x4030000000000000},
		{"+inf", 64, true, 0x7ff0000000000000},
		{"-nan:0xf1e2", 32, true, 0xff80f1e2},
		{"nan", 64, true, 0x7ff8000000000000},
		// One rounding, not two: by way of 64 bits this would round up.
		{"0x1.000001000000001p+0", 32, true, 0x3f800001},
	} {
		l, err := parseLane(x.text, x.width, x.float)
		if err != nil || l.Bits != x.want {
			t.Errorf("%s in %d bits: 0x%x, %v, want 0x%x", x.text, x.width, l.Bits, err, x.want)
		}
	}
	for _, x := range []struct {
		text  string
		width int
		float bool
	}{
		{"4294967296", 32, false}, {"-2147483649", 32, false}, {"", 32, false}, {"x", 64, false},
		{"nan:0x0", 32, true}, {"nan:0x800000", 32, true}, {"1e999", 64, true}, {"0x", 32, true},
	} {
		if l, err := parseLane(x.text, x.width, x.float); err == nil {
			t.Errorf("%q in %d bits: 0x%x, want an error", x.text, x.width, l.Bits)
		}
	}
}

func TestLaneMatches(t *testing.T) {
	for _, x := range []struct {
		lane  Lane
		got   uint64
		width int
		want  bool
	}{
		{Lane{NaN: Canonical}, 0x7fc00000, 32, true},
		{Lane{NaN: Canonical}, 0xffc00000, 32, true},
		{Lane{NaN: Canonical}, 0x7fc00001, 32, false},
		{Lane{NaN: Canonical}, 0x7f800000, 32, false},
		{Lane{NaN: Arithmetic}, 0xffc00001, 32, true},
		{Lane{NaN: Arithmetic}, 0x7fa00000, 32, false},
		{Lane{NaN: Canonical}, 0xfff8000000000000, 64, true},
		{Lane{NaN: Arithmetic}, 0x7ff8000000000001, 64, true},
		{Lane{NaN: Arithmetic}, 0x7ff4000000000001, 64, false},
		{Lane{Bits: 0x80000000}, 0, 32, false},
	} {
		if got := x.lane.Matches(x.got, x.width); got != x.want {
			t.Errorf("%+v accepts 0x%x: %v", x.lane, x.got, got)
		}
	}
}

func TestSyntaxErrors(t *testing.T) {
	for _, src := range []string{
		"(module", ")", `(module binary "`, `(module binary "\zz")`, "(; open", "(foo)", "(register)",
		"(invoke)", "(assert_return)", `(assert_return (invoke "f") (i32.const))`, `(module instance "x")`,
		"(module binary x)", `(register "\u{110000}")`, strings.Repeat("(", 100000),
	} {
		var s *SyntaxError
		if _, err := Parse([]byte(src)); !errors.As(err, &s) || s.Line != 1 {
			t.Errorf("%.40q: %v, want a syntax error in line 1", src, err)
		}
	}
}

// TestParseSuite reads every script of the suite.
func TestParseSuite(t *testing.T) {
	root := filepath.Join(testenv.SuiteDir(), "binary")
	files, commands := 0, 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		src, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		cmds, err := Parse(src)
		if err != nil {
			t.Errorf("%s: %v", path, err)
		}
		files++
		commands += len(cmds)
		return nil
	})
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("no specification suite at %s", root)
	}
	if err != nil || files == 0 || commands < 60000 {
		t.Errorf("%d files, %d commands: %v", files, commands, err)
	}
}
