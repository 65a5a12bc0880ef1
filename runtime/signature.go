package runtime

import (
	"slices"
	"strings"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
)

// signature is a function type with its number in the store and where its
// values travel. Structurally equal types of a store share one.
type signature struct {
	id  uint32 // never 0xffffffff, which compiled code may use as "none"
	typ decoder.FuncType

	params, results []liftoff.ABILoc
	paramCells      int // stack cells of the parameters
	cells           int // and of parameters and results
	// Slots of a call from Go: one uint64 per value, two for a v128.
	paramSlots, resultSlots     int
	funcRefParam, funcRefResult bool
}

// signature gives the store's signature for t.
func (s *Store) signature(t *decoder.FuncType) *signature {
	key := sigKey(t)
	s.mu.Lock()
	defer s.mu.Unlock()
	if sig := s.sigs[key]; sig != nil {
		return sig
	}
	sig := &signature{
		id:            uint32(len(s.sigs)) + 1,
		typ:           decoder.FuncType{Params: slices.Clone(t.Params), Results: slices.Clone(t.Results)},
		paramSlots:    slots(t.Params),
		resultSlots:   slots(t.Results),
		funcRefParam:  slices.Contains(t.Params, decoder.FuncRef),
		funcRefResult: slices.Contains(t.Results, decoder.FuncRef),
	}
	sig.params, sig.paramCells = liftoff.AssignParams(nil, t.Params)
	sig.results, sig.cells = liftoff.AssignResults(nil, t.Results, sig.paramCells)
	s.sigs[key] = sig
	return sig
}

func sigKey(t *decoder.FuncType) string {
	b := make([]byte, 0, len(t.Params)+len(t.Results)+1)
	for _, p := range t.Params {
		b = append(b, byte(p))
	}
	b = append(b, 0xff)
	for _, r := range t.Results {
		b = append(b, byte(r))
	}
	return string(b)
}

func slots(types []decoder.Type) int {
	n := len(types)
	for _, t := range types {
		if t == decoder.V128 {
			n++
		}
	}
	return n
}

// typeString renders a function type as "(i32 i64) -> (f32)".
func typeString(t *decoder.FuncType) string {
	list := func(types []decoder.Type) string {
		names := make([]string, len(types))
		for i, x := range types {
			names[i] = x.String()
		}
		return "(" + strings.Join(names, " ") + ")"
	}
	return list(t.Params) + " -> " + list(t.Results)
}
