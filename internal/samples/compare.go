package samples

// Level is the probability of a false alarm that the test of ranks allows,
// and Needed the number of samples on each side that can reach it at all:
// 1/C(2n, n) is below Level from there on.
const (
	Level  = 0.01
	Needed = 5
)

// Verdict is a comparison of new samples with old ones.
type Verdict struct {
	Median float64 // ratio of the medians, new to old
	Min    float64 // ratio of the minima
	// P is the probability of new samples as high as these if the old
	// distribution stretched by the threshold were the truth.
	P      float64
	Enough bool // there are enough samples for a verdict
	Slower bool // by more than the threshold, in all three figures
}

// Compare judges whether cur is slower than old by more than the threshold,
// 0.05 for 5 %. The package documentation gives the reasons.
func Compare(old, cur []float64, threshold float64) Verdict {
	v := Verdict{
		Median: Median(cur) / Median(old),
		Min:    Min(cur) / Min(old),
		P:      Greater(cur, Scale(old, 1/(1+threshold))),
		Enough: len(old) >= Needed && len(cur) >= Needed,
	}
	limit := 1 + threshold
	v.Slower = v.Enough && v.Median > limit && v.Min > limit && v.P < Level
	return v
}
