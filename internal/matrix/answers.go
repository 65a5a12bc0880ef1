package matrix

import (
	"compress/gzip"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/testenv"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
)

// Answers are another engine's results for every numeric opcode on all
// inputs, in the order of inputs: hexadecimal bits or "trap".
type Answers struct {
	// Engine names who answered.
	Engine string `json:"engine"`
	// Inputs are the operands by signature, to notice when edge values change.
	Inputs map[string]string `json:"inputs"`
	// Answers are separated by spaces.
	Answers map[string]string `json:"answers"`
}

// answersPath is where the recorded answers are.
func answersPath() string {
	return filepath.Join(testenv.Root(), "testdata", "matrix", "answers.json.gz")
}

// readAnswers reads the recorded answers.
func readAnswers() (*Answers, error) {
	f, err := os.Open(answersPath())
	if err != nil {
		return nil, err
	}
	defer f.Close()
	z, err := gzip.NewReader(f)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", answersPath(), err)
	}
	a := new(Answers)
	if err := json.NewDecoder(z).Decode(a); err != nil {
		return nil, fmt.Errorf("%s: %w", answersPath(), err)
	}
	return a, nil
}

// write stores the answers; the file has no time in it, so that equal answers
// are equal bytes.
func (a *Answers) write() error {
	if err := os.MkdirAll(filepath.Dir(answersPath()), 0o755); err != nil {
		return err
	}
	f, err := os.Create(answersPath())
	if err != nil {
		return err
	}
	z, err := gzip.NewWriterLevel(f, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := json.NewEncoder(z).Encode(a); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	return f.Close()
}

// signature names a list of types.
func signature(ts []decoder.Type) string {
	var s []string
	for _, t := range ts {
		s = append(s, t.String())
	}
	return strings.Join(s, " ")
}

// formatInputs writes operand tuples as text.
func formatInputs(operands []decoder.Type) []string {
	var list []string
	for _, in := range inputs(operands) {
		var words []string
		for _, x := range in {
			words = append(words, strconv.FormatUint(x, 16))
		}
		list = append(list, strings.Join(words, " "))
	}
	return list
}

// bitsType is the integer type that holds the bits of t.
func bitsType(t decoder.Type) decoder.Type {
	switch t {
	case decoder.F32:
		return decoder.I32
	case decoder.F64:
		return decoder.I64
	}
	return t
}

// question makes a module whose function f applies an opcode to parameters
// that are the operands' bits, and returns the result's bits.
func question(r *Row) []byte {
	operands, result, _ := r.Numeric()
	m := wasmtest.New()
	var params []decoder.Type
	var c wasmtest.Code
	for i, t := range operands {
		params = append(params, bitsType(t))
		c.Get(uint32(i))
		switch t {
		case decoder.F32:
			c.Op(0xbe)
		case decoder.F64:
			c.Op(0xbf)
		}
	}
	c.OpU(r.Op)
	switch result {
	case decoder.F32:
		c.Op(0xbc)
	case decoder.F64:
		c.Op(0xbd)
	}
	m.Func("f", m.Type(params, wasmtest.Types(bitsType(result))), nil, c)
	return m.Bytes()
}
