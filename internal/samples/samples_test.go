package samples

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestMedianInterval(t *testing.T) {
	for _, c := range []struct {
		x                          []float64
		median, lo, hi, confidence float64
	}{
		{[]float64{3}, 3, 3, 3, 0},
		{[]float64{4, 1, 3, 2}, 2.5, 1, 4, 0.875},
		{[]float64{5, 1, 4, 2, 3}, 3, 1, 5, 0.9375},
		{[]float64{6, 5, 1, 4, 2, 3}, 3.5, 1, 6, 0.96875},
		// Of ten samples the second and the ninth: 1 - 2*11/1024.
		{[]float64{1, 2, 3, 4, 5, 6, 7, 8, 9, 10}, 5.5, 2, 9, 1 - 22.0/1024},
	} {
		lo, hi, conf := Interval(c.x)
		if m := Median(c.x); m != c.median || lo != c.lo || hi != c.hi || math.Abs(conf-c.confidence) > 1e-12 {
			t.Errorf("%v: median %v, [%v, %v] at %v; want %v, [%v, %v] at %v", c.x, m, lo, hi, conf, c.median, c.lo, c.hi, c.confidence)
		}
	}
	if !math.IsNaN(Median(nil)) || !math.IsNaN(Min(nil)) {
		t.Error("the median of nothing is a number")
	}
}

// TestIntervalCovers draws from a skewed distribution with a known median.
func TestIntervalCovers(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	const trials = 2000
	hit := 0
	for range trials {
		x := make([]float64, 15)
		for i := range x {
			x[i] = 1 + r.ExpFloat64()
		}
		if lo, hi, _ := Interval(x); lo <= 1+math.Ln2 && 1+math.Ln2 <= hi {
			hit++
		}
	}
	if share := float64(hit) / trials; share < 0.94 {
		t.Errorf("the interval holds the median in %v of the trials, want at least 0.95", share)
	}
}

// TestGreater compares with probabilities counted by hand.
func TestGreater(t *testing.T) {
	for _, c := range []struct {
		x, y []float64
		p    float64
	}{
		{[]float64{4, 5, 6}, []float64{1, 2, 3}, 1.0 / 20},
		{[]float64{1, 2, 3}, []float64{4, 5, 6}, 1},
		{[]float64{3, 5, 6}, []float64{1, 2, 4}, 2.0 / 20},
		{[]float64{7, 7}, []float64{7, 7, 7}, 1},
		{[]float64{2, 3}, []float64{1, 2}, 2.0 / 6}, // ranks 2.5 and 4 of 1, 2.5, 2.5, 4
		{nil, []float64{1}, 1},
		{[]float64{6, 7, 8, 9, 10}, []float64{1, 2, 3, 4, 5}, 1.0 / 252},
	} {
		if p := Greater(c.x, c.y); math.Abs(p-c.p) > 1e-12 {
			t.Errorf("%v > %v: %v, want %v", c.x, c.y, p, c.p)
		}
	}
}

// TestGreaterApproximate compares the two ways at the size where they meet.
func TestGreaterApproximate(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	draw := func(n int, shift float64) []float64 {
		x := make([]float64, n)
		for i := range x {
			x[i] = math.Round(20*(r.NormFloat64()+shift)) / 20 // with ties
		}
		return x
	}
	for _, shift := range []float64{-0.3, 0, 0.3, 0.6} {
		x, y := draw(41, shift), draw(41, 0)
		near := Greater(x, y)
		ranks, sum, _ := doubledRanks(x, y)
		if exact := exactTail(ranks, len(x), sum); math.Abs(near-exact) > 0.005 {
			t.Errorf("shift %v: approximately %v, exactly %v", shift, near, exact)
		}
	}
}

// noisy draws times of a program that takes at least floor on a machine that
// disturbs it: a little always, much now and then.
func noisy(r *rand.Rand, n int, floor float64) []float64 {
	x := make([]float64, n)
	for i := range x {
		x[i] = floor * (1 + 0.05*r.ExpFloat64())
		if r.Float64() < 0.15 {
			x[i] *= 1 + 2*r.Float64()
		}
	}
	return x
}

// TestCompare counts alarms on synthetic samples: hardly any where nothing
// changed, or no more than the threshold, and nearly always on a real change.
func TestCompare(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	const trials = 300
	for _, c := range []struct {
		name        string
		n           int
		change      float64
		least, most float64 // share of alarms
	}{
		{"faster", 10, 0.9, 0, 0},
		{"the same", 10, 1, 0, 0.002},
		{"as much as is allowed", 10, 1.05, 0, 0.02},
		{"a fifth slower", 10, 1.2, 0.5, 1},
		{"a fifth slower, more samples", 20, 1.2, 0.9, 1},
		{"a half slower", 10, 1.5, 0.7, 1},
	} {
		alarms := 0
		for range trials {
			if Compare(noisy(r, c.n, 100), noisy(r, c.n, 100*c.change), 0.05).Slower {
				alarms++
			}
		}
		if share := float64(alarms) / trials; share < c.least || share > c.most {
			t.Errorf("%s: alarms in %v of the trials, want %v to %v", c.name, share, c.least, c.most)
		}
	}
}

// TestCompareSpoiled checks single disturbances.
func TestCompareSpoiled(t *testing.T) {
	old := []float64{100, 101, 102, 103, 104, 105}
	for _, c := range []struct {
		name   string
		cur    []float64
		slower bool
	}{
		{"one wild sample", []float64{100, 101, 102, 103, 104, 900}, false},
		{"a busy machine with one quiet moment", []float64{150, 160, 170, 180, 190, 101}, false},
		{"slower throughout", []float64{120, 121, 122, 123, 124, 125}, true},
		{"too few samples", []float64{120, 121, 122, 123}, false},
	} {
		if v := Compare(old, c.cur, 0.05); v.Slower != c.slower {
			t.Errorf("%s: %+v, want slower %v", c.name, v, c.slower)
		}
	}
	if v := Compare(old, []float64{120, 121}, 0.05); v.Enough {
		t.Error("two samples are enough")
	}
	if r := Ratios([]float64{4, 9}, []float64{2, 3, 5}); len(r) != 2 || r[0] != 2 || r[1] != 3 {
		t.Errorf("ratios %v", r)
	}
}
