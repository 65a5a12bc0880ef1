// Package matrix generates the test matrix: every scalar opcode, with its
// operands in every kind of place, on edge values, and its result in every
// kind of use. The rows are those of decoder/ops.txt; the right answers come
// from the reference interpreter's numeric functions, which recorded answers
// of another engine confirm (testdata/matrix).
package matrix

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/testenv"
)

// Row is one line of decoder/ops.txt.
type Row struct {
	// Op is the opcode, prefix and sub-opcode as 0xfc00 | sub.
	Op        uint32
	Name      string
	Imm       string
	Sig       string
	Feature   string
	Class     string
	Supported bool
}

// Rows reads the opcode table.
func Rows() ([]Row, error) {
	path := filepath.Join(testenv.Root(), "decoder", "ops.txt")
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var rows []Row
	for n, line := range strings.Split(string(text), "\n") {
		f := strings.Fields(line)
		if len(f) == 0 || f[0] == "#" || f[0][0] == '#' {
			continue
		}
		op, err := strconv.ParseUint(f[0], 16, 32)
		if err != nil || len(f) < 6 {
			return nil, fmt.Errorf("%s:%d: bad row %q", path, n+1, line)
		}
		rows = append(rows, Row{uint32(op), f[1], f[2], f[3], f[4], f[5], f[5] != "unsupported"})
	}
	return rows, nil
}

var sigTypes = map[byte]decoder.Type{'i': decoder.I32, 'I': decoder.I64, 'f': decoder.F32, 'F': decoder.F64}

// Numeric reports whether the row's meaning is a function of numbers, and
// gives its operand and result types.
func (r *Row) Numeric() (operands []decoder.Type, result decoder.Type, ok bool) {
	in, out, ok := strings.Cut(r.Sig, ":")
	if !r.Supported || r.Imm != "-" || !ok || len(out) != 1 || len(in) == 0 {
		return nil, 0, false
	}
	for i := range len(in) {
		t, ok := sigTypes[in[i]]
		if !ok {
			return nil, 0, false
		}
		operands = append(operands, t)
	}
	result, ok = sigTypes[out[0]]
	return operands, result, ok
}
