package main

import (
	"math"
	"strconv"

	"github.com/wasmjit/wasmjit/decoder"
)

// parseArgs reads the words that --invoke passes as values of the parameters.
// Integers may be signed or unsigned, in any base that Go's literals have.
func parseArgs(params []decoder.Type, words []string) ([]uint64, error) {
	if len(words) != len(params) {
		return nil, usagef("the function takes %d arguments %v, not %d", len(params), params, len(words))
	}
	values := make([]uint64, len(words))
	for i, w := range words {
		v, ok := parseValue(params[i], w)
		if !ok {
			return nil, usagef("argument %d must be %s, not %q", i+1, params[i], w)
		}
		values[i] = v
	}
	return values, nil
}

func parseValue(t decoder.Type, w string) (uint64, bool) {
	switch t {
	case decoder.I32:
		v, ok := parseInt(w, 32)
		return v & math.MaxUint32, ok
	case decoder.I64:
		return parseInt(w, 64)
	case decoder.F32:
		v, err := strconv.ParseFloat(w, 32)
		return uint64(math.Float32bits(float32(v))), err == nil
	case decoder.F64:
		v, err := strconv.ParseFloat(w, 64)
		return math.Float64bits(v), err == nil
	case decoder.FuncRef, decoder.ExternRef:
		return 0, w == "null"
	}
	return 0, false
}

func parseInt(w string, bits int) (uint64, bool) {
	if v, err := strconv.ParseInt(w, 0, bits); err == nil {
		return uint64(v), true
	}
	v, err := strconv.ParseUint(w, 0, bits)
	return v, err == nil
}

// formatValue prints a result: integers signed, floats in the shortest form
// that reads back as the same value.
func formatValue(t decoder.Type, v uint64) string {
	switch t {
	case decoder.I32:
		return strconv.FormatInt(int64(int32(v)), 10)
	case decoder.I64:
		return strconv.FormatInt(int64(v), 10)
	case decoder.F32:
		return strconv.FormatFloat(float64(math.Float32frombits(uint32(v))), 'g', -1, 32)
	case decoder.F64:
		return strconv.FormatFloat(math.Float64frombits(v), 'g', -1, 64)
	}
	if v == 0 {
		return "null"
	}
	return t.String()
}
