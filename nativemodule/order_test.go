package nativemodule

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func TestSortedBy(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, most := range []uint32{1, 2, 1 << 11, 1<<11 + 1, 1 << 22, 1<<22 + 1, 1<<32 - 1} {
		for _, n := range []int{0, 1, 2, 63, 5000} {
			keys := make([]uint32, n)
			for i := range keys {
				keys[i] = r.Uint32N(most)
			}
			want := make([]uint32, n)
			for i := range want {
				want[i] = uint32(i)
			}
			slices.SortStableFunc(want, func(a, b uint32) int {
				return int(int64(keys[a]) - int64(keys[b]))
			})
			if got := sortedBy(keys); !slices.Equal(got, want) {
				t.Fatalf("%d keys below %d: wrong order", n, most)
			}
		}
	}
}

func TestPlan(t *testing.T) {
	for _, n := range []int{0, 1, 10, 3000} {
		for _, workers := range []int{1, 16} {
			dm := fakeModule(0, mixedSizes(n)...)
			p := makePlan(dm.Bodies, workers)
			size := func(def uint32) int64 { return int64(dm.Bodies[def].End - dm.Bodies[def].Start) }
			seen := make([]bool, n)
			for i, def := range p.order {
				if seen[def] {
					t.Fatalf("function %d twice", def)
				}
				seen[def] = true
				if i > 0 {
					prev := p.order[i-1]
					// Small bodies count as equals, which keep their order.
					a, b := max(size(prev), bigBody-1), max(size(def), bigBody-1)
					if a < b || a == b && prev > def {
						t.Fatalf("function %d before %d", prev, def)
					}
				}
			}
			if len(p.order) != n || p.batches[0] != 0 || int(p.batches[len(p.batches)-1]) != n {
				t.Fatalf("%d functions: order of %d, batches %v", n, len(p.order), p.batches)
			}
			for b := range p.numBatches() {
				lo, hi := p.batches[b], p.batches[b+1]
				var sum int64
				for _, def := range p.order[lo:hi] {
					sum += size(def)
				}
				if hi <= lo || hi-lo > 1 && sum > maxBatch {
					t.Errorf("batch %d: %d functions, %d bytes", b, hi-lo, sum)
				}
			}
		}
	}
}
