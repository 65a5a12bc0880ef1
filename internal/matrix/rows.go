// Package matrix generates the test matrix: every scalar opcode, with its
// operands in every kind of place, on edge values, and its result in every
// kind of use. The rows are those of decoder/ops.txt; the right answers come
// from the reference interpreter's numeric functions, which recorded answers
// of another engine confirm (testdata/matrix).
package matrix

import (
	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/optable"
	"github.com/wasmjit/wasmjit/internal/testenv"
)

// Row is one opcode, under the number that the reference interpreter and the
// builder of bodies know it by.
type Row struct {
	optable.Row
	Op uint32 // Code, or Prefix<<8 | Code
}

// Rows reads the opcode table.
func Rows() ([]Row, error) {
	table, err := optable.Read(testenv.Root())
	if err != nil {
		return nil, err
	}
	rows := make([]Row, len(table))
	for i, r := range table {
		rows[i] = Row{r, uint32(r.Prefix)<<8 | r.Code}
	}
	return rows, nil
}

var sigTypes = map[byte]decoder.Type{'i': decoder.I32, 'I': decoder.I64, 'f': decoder.F32, 'F': decoder.F64}

// Numeric reports whether the row's meaning is a function of numbers, and
// gives its operand and result types.
func (r *Row) Numeric() (operands []decoder.Type, result decoder.Type, ok bool) {
	if !r.Supported() || r.Imm != "" || r.Pops == "" || r.Push == "" {
		return nil, 0, false
	}
	for i := range len(r.Pops) {
		t, ok := sigTypes[r.Pops[i]]
		if !ok {
			return nil, 0, false
		}
		operands = append(operands, t)
	}
	result, ok = sigTypes[r.Push[0]]
	return operands, result, ok
}
