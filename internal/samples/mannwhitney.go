package samples

import (
	"cmp"
	"math"
	"slices"
)

// exactUpTo is the largest number of samples, of both sides, for which the
// distribution of ranks is counted out.
const exactUpTo = 80

// Greater gives the probability of samples x that exceed samples y by as much
// as they do, or more, if both came from one distribution: the one-sided
// Mann-Whitney test. It is exact up to 80 samples together, with ties too.
func Greater(x, y []float64) float64 {
	n, m := len(x), len(y)
	if n == 0 || m == 0 {
		return 1
	}
	ranks, sum, ties := doubledRanks(x, y)
	if n+m <= exactUpTo {
		return exactTail(ranks, n, sum)
	}
	// The normal distribution, with the correction for ties.
	N := float64(n + m)
	mean := float64(n) * (N + 1) // of doubled ranks
	variance := float64(n) * float64(m) / 12 * (N + 1 - ties/(N*(N-1))) * 4
	if variance <= 0 {
		return 1
	}
	z := (float64(sum) - 1 - mean) / math.Sqrt(variance)
	return math.Erfc(z/math.Sqrt2) / 2
}

// doubledRanks ranks the samples of both sides together. Equal ones share the
// mean of their ranks; doubled, all are integers. It also gives the sum of
// x's and the sum of t³-t over the groups of t equal samples.
func doubledRanks(x, y []float64) (ranks []int, sum int, ties float64) {
	type sample struct {
		v    float64
		ours bool
	}
	var all []sample
	for _, v := range x {
		all = append(all, sample{v, true})
	}
	for _, v := range y {
		all = append(all, sample{v, false})
	}
	slices.SortFunc(all, func(a, b sample) int { return cmp.Compare(a.v, b.v) })
	for i := 0; i < len(all); {
		j := i
		for j < len(all) && all[j].v == all[i].v {
			j++
		}
		rank := i + 1 + j // twice the mean of i+1 ... j
		for k := i; k < j; k++ {
			ranks = append(ranks, rank)
			if all[k].ours {
				sum += rank
			}
		}
		t := float64(j - i)
		ties += t*t*t - t
		i = j
	}
	return ranks, sum, ties
}

// exactTail is the share of the choices of n ranks whose sum is at least sum.
func exactTail(ranks []int, n, sum int) float64 {
	total := 0
	for _, r := range ranks {
		total += r
	}
	// ways[k][s] counts the choices of k ranks with the sum s.
	ways := make([][]float64, n+1)
	for k := range ways {
		ways[k] = make([]float64, total+1)
	}
	ways[0][0] = 1
	for _, r := range ranks {
		for k := n; k > 0; k-- {
			for s := total; s >= r; s-- {
				ways[k][s] += ways[k-1][s-r]
			}
		}
	}
	var tail, all float64
	for s, w := range ways[n] {
		all += w
		if s >= sum {
			tail += w
		}
	}
	return tail / all
}
