package main

import (
	"math"

	"github.com/wasmjit/wasmjit/internal/samples"
)

// geomean is the geometric mean of the values that are there.
func geomean(v []float64) float64 {
	sum, n := 0.0, 0
	for _, x := range v {
		if x > 0 && !math.IsInf(x, 0) {
			sum += math.Log(x)
			n++
		}
	}
	if n == 0 {
		return math.NaN()
	}
	return math.Exp(sum / float64(n))
}

// field picks a figure of a sample.
type field func(sample) float64

func wall(s sample) float64 { return float64(s.WallNS) }
func cpu(s sample) float64  { return float64(s.CPUNS) }
func rss(s sample) float64  { return float64(s.PeakRSS) }

func each(s []sample, f field) []float64 {
	v := make([]float64, len(s))
	for i := range s {
		v[i] = f(s[i])
	}
	return v
}

// paired is the median over the rounds of a's figure divided by b's in the
// same round: what loads the machine for a round weighs on both.
func paired(a, b []sample, f field) float64 {
	var v []float64
	for i := range min(len(a), len(b)) {
		if y := f(b[i]); y > 0 {
			v = append(v, f(a[i])/y)
		}
	}
	return samples.Median(v)
}
