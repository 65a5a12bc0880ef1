// Package optable reads decoder/ops.txt, the table of opcodes, for the
// generator of the tables that derive from it and for the tests that go
// through every opcode. It depends on nothing that is generated from the table.
package optable

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// file is where the table stands, below the root of the repository.
const file = "decoder/ops.txt"

// Row is one opcode of the table, whose header describes the columns.
type Row struct {
	Line    int      // in the file, for messages
	Prefix  byte     // 0, or 0xfb-0xfe
	Code    uint32   // the opcode, or the sub-opcode behind Prefix
	Name    string   // i32.add
	Ident   string   // I32Add; the Go constant is "Op" + Ident
	Imm     string   // immediate kind, "" for none
	Pops    string   // signature letters, the top of the stack last
	Push    string   // "" or one signature letter
	Star    bool     // the class function decides; Pops and Push are empty
	Feature string   // mvp, bulk-memory, simd, ...
	Class   string   // binop, load, ...; "" when unsupported
	Args    []string // of the class function; Go identifiers
}

// Supported reports whether the compiler handles the opcode.
func (r *Row) Supported() bool { return r.Class != "" }

// ImmKinds are the immediate kinds, in the order of the decoder's constants.
var ImmKinds = []string{
	"", "s32", "s64", "f32", "f64", "local", "global", "func", "table", "memory",
	"data", "elem", "label", "labels", "block", "types", "heap", "calltype",
	"mem", "mem2", "table2", "datamem", "elemtable", "sub",
}

// SigLetters are the letters a signature may use; a letter's index is its
// decoder.Type, but for 'a'.
const SigLetters = "?iIfFvrx"

// Read reads the table below root.
func Read(root string) ([]Row, error) {
	f, err := os.Open(filepath.Join(root, file))
	if err != nil {
		return nil, err
	}
	defer f.Close()
	rows, err := parse(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return rows, nil
}

// parse reads rows. It checks all that later steps rely on: known columns, and
// no code or identifier used twice.
func parse(in io.Reader) ([]Row, error) {
	var rows []Row
	codes := map[uint64]int{}
	idents := map[string]int{}
	sc := bufio.NewScanner(in)
	for line := 1; sc.Scan(); line++ {
		text := strings.TrimSpace(sc.Text())
		if text == "" || text[0] == '#' {
			continue
		}
		r, err := parseRow(strings.Fields(text))
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", line, err)
		}
		r.Line = line
		key := uint64(r.Prefix)<<32 | uint64(r.Code)
		if old, ok := codes[key]; ok {
			return nil, fmt.Errorf("line %d: opcode of line %d again", line, old)
		}
		if old, ok := idents[r.Ident]; ok {
			return nil, fmt.Errorf("line %d: name of line %d again", line, old)
		}
		codes[key], idents[r.Ident] = line, line
		rows = append(rows, r)
	}
	return rows, sc.Err()
}

func parseRow(f []string) (r Row, err error) {
	if len(f) < 7 {
		return r, fmt.Errorf("%d columns, want at least 7", len(f))
	}
	if r.Prefix, r.Code, err = parseCode(f[0]); err != nil {
		return r, err
	}
	r.Name, r.Ident = f[1], Camel(f[1])
	if f[2] != "-" {
		r.Imm = f[2]
	}
	if !slices.Contains(ImmKinds, r.Imm) {
		return r, fmt.Errorf("unknown immediate kind %q", f[2])
	}
	if err = r.parseSig(f[3]); err != nil {
		return r, err
	}
	r.Feature = f[4]
	if f[5] != "unsupported" {
		r.Class = f[5]
	}
	if f[6] != "-" {
		r.Args = f[6:]
	}
	return r, nil
}

func parseCode(s string) (prefix byte, code uint32, err error) {
	digits := s
	if len(s) > 2 {
		p, err := strconv.ParseUint(s[:2], 16, 8)
		if err != nil || p < 0xfb || p > 0xfe {
			return 0, 0, fmt.Errorf("bad prefix in opcode %q", s)
		}
		prefix, digits = byte(p), s[2:]
	}
	c, err := strconv.ParseUint(digits, 16, 12)
	if err != nil || len(digits) < 2 {
		return 0, 0, fmt.Errorf("bad opcode %q", s)
	}
	return prefix, uint32(c), nil
}

func (r *Row) parseSig(s string) error {
	if s == "*" {
		r.Star = true
		return nil
	}
	pops, push, ok := strings.Cut(s, ":")
	if !ok || len(pops) > 3 || len(push) > 1 {
		return fmt.Errorf("bad signature %q", s)
	}
	for _, c := range pops + push {
		if c != 'a' && strings.IndexRune(SigLetters, c) < 1 {
			return fmt.Errorf("bad letter %q in signature %q", c, s)
		}
	}
	r.Pops, r.Push = pops, push
	return nil
}

// Camel turns i32.trunc_sat_f32_s into I32TruncSatF32S.
func Camel(name string) string {
	var b strings.Builder
	for _, part := range strings.FieldsFunc(name, func(c rune) bool { return c == '.' || c == '_' }) {
		b.WriteString(strings.ToUpper(part[:1]))
		b.WriteString(part[1:])
	}
	return b.String()
}
