package synth

// rng is splitmix64. The generators of math/rand don't promise the same
// numbers in every release, and the checksum of a module must not change.
type rng uint64

func (r *rng) next() uint64 {
	*r += 0x9e3779b97f4a7c15
	z := uint64(*r)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number in [0, n).
func (r *rng) below(n int) int { return int((r.next() >> 33) % uint64(n)) }

// chance is true in percent of all cases.
func (r *rng) chance(percent int) bool { return r.below(100) < percent }

// pick returns an index into weights, each as often as its weight says.
func (r *rng) pick(weights []int) int {
	sum := 0
	for _, w := range weights {
		sum += w
	}
	n := r.below(sum)
	for i, w := range weights {
		if n -= w; n < 0 {
			return i
		}
	}
	return len(weights) - 1
}
