package matrix

import (
	"testing"

	"github.com/wasmjit/wasmjit/internal/engine"
)

// TestMerges sends values through every construct that merges paths.
func TestMerges(t *testing.T) {
	h, variants := buildMerges()
	forEngines(t, func(t *testing.T, open func(t *testing.T) engine.Engine) {
		w := newTwins(t, open(t), h.m.Bytes())
		calls := w.run(t, &builder{variants: variants})
		t.Logf("%d functions, %d calls", len(variants), calls)
	})
}
