package matrix

import (
	"testing"
)

// TestMerges sends values through every construct that merges paths.
func TestMerges(t *testing.T) {
	h, variants := buildMerges()
	forEngines(t, func(t *testing.T, open open) {
		w := newTwins(t, open(t), h.m.Bytes())
		calls := w.run(t, &builder{variants: variants})
		t.Logf("%d functions, %d calls", len(variants), calls)
	})
}
