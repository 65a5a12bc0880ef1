package main

import (
	"math"
	"testing"
)

func TestGeomean(t *testing.T) {
	if got := geomean([]float64{1, 4, math.NaN(), 16}); math.Abs(got-4) > 1e-12 {
		t.Errorf("geometric mean %v, want 4", got)
	}
}

func TestPaired(t *testing.T) {
	a := []sample{{WallNS: 10}, {WallNS: 40}, {WallNS: 100}}
	b := []sample{{WallNS: 5}, {WallNS: 10}, {WallNS: 100}}
	// Ratios 2, 4, 1.
	if got := paired(a, b, wall); got != 2 {
		t.Errorf("paired ratio %v, want 2", got)
	}
	if !math.IsNaN(paired(a, b, cpu)) {
		t.Error("a ratio without a divisor is a number")
	}
}

func TestPicked(t *testing.T) {
	if !picked("", "x") || !picked("a,x", "x") || picked("ax", "x") || picked("-", "x") {
		t.Error("picked chooses wrong names")
	}
}
