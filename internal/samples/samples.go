package samples

import (
	"math"
	"slices"
)

// Min is the least of the samples, NaN if there are none.
func Min(x []float64) float64 {
	if len(x) == 0 {
		return math.NaN()
	}
	return slices.Min(x)
}

// Median is the middle sample, or the mean of the two middle ones; NaN if
// there are none.
func Median(x []float64) float64 {
	n := len(x)
	if n == 0 {
		return math.NaN()
	}
	s := slices.Sorted(slices.Values(x))
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}

// Interval gives the closest pair of samples, the k-th from below and from
// above, that encloses the median of their distribution with a confidence of
// at least 95 %, and that confidence. It assumes independent samples and
// nothing else. With fewer than six samples it is the whole range, with less
// confidence.
func Interval(x []float64) (lo, hi, confidence float64) {
	n := len(x)
	if n == 0 {
		return math.NaN(), math.NaN(), 0
	}
	s := slices.Sorted(slices.Values(x))
	k, tail := 0, math.Exp2(float64(-n)) // P(fewer than k+1 samples lie below the median)
	term := tail
	for {
		term *= float64(n-k) / float64(k+1)
		if 2*(tail+term) > 0.05 || k+1 > n-2-k {
			break
		}
		tail += term
		k++
	}
	return s[k], s[n-1-k], max(0, 1-2*tail)
}

// Spread is half the width of the interval relative to the median, a measure
// of how noisy the samples are.
func Spread(x []float64) float64 {
	lo, hi, _ := Interval(x)
	return (hi - lo) / 2 / Median(x)
}

// Scale divides the samples by unit, the time of a reference load.
func Scale(x []float64, unit float64) []float64 {
	y := make([]float64, len(x))
	for i := range x {
		y[i] = x[i] / unit
	}
	return y
}

// Ratios divides the samples of two series pairwise: x[i] and y[i] were
// measured one after the other.
func Ratios(x, y []float64) []float64 {
	r := make([]float64, min(len(x), len(y)))
	for i := range r {
		r[i] = x[i] / y[i]
	}
	return r
}
