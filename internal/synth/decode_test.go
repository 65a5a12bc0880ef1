package synth

import (
	"testing"

	"github.com/wasmjit/wasmjit/decoder"
)

// TestValid decodes and validates modules of several sizes and seeds.
func TestValid(t *testing.T) {
	for _, o := range []Options{
		{Functions: 1, Seed: 1},
		{Functions: 2, Seed: 2, Import: true},
		{Functions: 30, Seed: 3, Names: true},
		{Functions: 300, Seed: 4, Import: true, Names: true},
		{Functions: 3000, Seed: 5, SizePercent: 30},
		{Functions: 3000, Seed: 6, SizePercent: 300},
		Unity(),
	} {
		m, err := decoder.Decode(Module(o))
		if err != nil {
			t.Errorf("%+v: %v", o, err)
			continue
		}
		if len(m.Bodies) != o.Functions+2 {
			t.Errorf("%+v: %d bodies", o, len(m.Bodies))
		}
		if err := decoder.ValidateBodies(m, 2); err != nil {
			t.Errorf("%+v: %v", o, err)
		}
	}
}
