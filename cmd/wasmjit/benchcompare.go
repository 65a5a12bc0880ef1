package main

import (
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/wasmjit/wasmjit/internal/samples"
)

// errRegression marks a result that is worse than its baseline.
var errRegression = errors.New("worse than the baseline")

// comparison is one benchmark beside its baseline.
type comparison struct {
	old, cur *benchmark
	// raw judges the times as they are, scaled those in units of the machine's
	// reference load.
	raw, scaled samples.Verdict
	code        float64 // ratio of emitted bytes
	limit       float64 // the share that may be added; 0 if nothing fails
}

// compareBenchmarks judges cur by old.
func compareBenchmarks(old, cur *benchmark, oldUnit, curUnit, limit float64) comparison {
	return comparison{
		old: old, cur: cur, limit: limit,
		raw: samples.Compare(old.engine(), cur.engine(), limit),
		scaled: samples.Compare(samples.Scale(old.engine(), oldUnit),
			samples.Scale(cur.engine(), curUnit), limit),
		code: float64(cur.EmittedBytes) / float64(old.EmittedBytes),
	}
}

func (c *comparison) slower() bool { return c.raw.Slower && c.scaled.Slower }

// larger needs no statistics: the code of a module is the same every time.
func (c *comparison) larger() bool { return c.code > 1+c.limit }

func (c *comparison) verdict() string {
	switch {
	case c.larger():
		return "more code"
	case c.slower():
		return "slower"
	case !c.raw.Enough:
		return sprintf("too few samples (%d are needed)", samples.Needed)
	case c.raw.Slower:
		return "slower, as is the machine"
	case c.raw.Median < 1 && c.raw.Min < 1:
		return "not slower"
	}
	return "within noise or limit"
}

// compareWith prints how r compares with old. If it is to fail and something
// is worse by more than limit, it measures those benchmarks once more and
// returns errRegression if the second series says so, too.
func compareWith(w io.Writer, old, r *benchResult, limit float64, fail, markdown bool,
	again func(which []*benchmark) (*benchResult, error)) error {
	all, err := pairs(old, r, limit)
	if err != nil {
		return err
	}
	if old.Machine.CPU != r.Machine.CPU {
		printf(w, "The baseline is of another processor (%s).\n", oneLine(old.Machine.CPU))
	}
	writeComparisons(w, all, markdown)
	printf(w, "Baseline of %s by version %s; this machine's reference load takes %.2f of its time then.\n",
		old.Time.UTC().Format(time.DateTime), oneLine(old.Version), r.Machine.speed()/old.Machine.speed())
	if !fail {
		return nil
	}
	var worse []string
	var suspects []*benchmark
	for i := range all {
		switch c := &all[i]; {
		case c.larger():
			worse = append(worse, sprintf("%s emits %.1f %% more code", c.cur.key(), 100*(c.code-1)))
		case c.slower():
			suspects = append(suspects, &benchmark{Module: c.cur.Module, Process: c.cur.Process, subject: c.cur.subject})
		}
	}
	if len(suspects) > 0 {
		second, err := again(suspects)
		if err != nil {
			return err
		}
		if all, err = pairs(old, second, limit); err != nil {
			return err
		}
		writeComparisons(w, all, markdown)
		for i := range all {
			if c := &all[i]; c.slower() {
				worse = append(worse, sprintf("%s takes %.1f %% longer", c.cur.key(), 100*(c.raw.Median-1)))
			}
		}
	}
	if len(worse) == 0 {
		return nil
	}
	return fmt.Errorf("%w by more than %g %%: %s", errRegression, 100*limit, strings.Join(worse, "; "))
}

// pairs finds the benchmarks that both results have. Having none in common,
// or other modules under the same names, is an error: a comparison of nothing
// would pass for a good one.
func pairs(old, r *benchResult, limit float64) ([]comparison, error) {
	before := map[string]*benchmark{}
	for _, b := range old.Benchmarks {
		before[b.key()] = b
	}
	var all []comparison
	for _, b := range r.Benchmarks {
		o := before[b.key()]
		switch {
		case o == nil:
			continue
		case o.SHA256 != b.SHA256:
			return nil, fmt.Errorf("the baseline has measured another file under the name %s", displayName(b.Module))
		}
		all = append(all, compareBenchmarks(o, b, old.Machine.speed(), r.Machine.speed(), limit))
	}
	if len(all) == 0 {
		return nil, errors.New("the baseline has none of these benchmarks (module, process, number of workers, protection)")
	}
	return all, nil
}

func writeComparisons(w io.Writer, all []comparison, markdown bool) {
	t := newTable(w, "against the baseline", "old ms", "new ms", "median", "minimum", "by reference load", "p", "code", "")
	for i := range all {
		c := &all[i]
		t.AppendRow(table.Row{c.cur.key(), millis(samples.Median(c.old.engine())), millis(samples.Median(c.cur.engine())),
			percent(c.raw.Median), percent(c.raw.Min), percent(c.scaled.Median), sprintf("%.3f", c.raw.P), percent(c.code), c.verdict()})
	}
	render(t, w, markdown)
}

// percent writes a ratio as a change.
func percent(ratio float64) string { return sprintf("%+.1f %%", 100*(ratio-1)) }

// parsePercent reads a share such as 5%; the sign may be left out.
func parsePercent(s string) (float64, error) {
	v, err := strconv.ParseFloat(strings.TrimSpace(strings.TrimSuffix(s, "%")), 64)
	if err != nil || !(v >= 0 && v <= 1000) {
		return 0, usagef("--fail-above must be a percentage such as 5%%, not %q", s)
	}
	return v / 100, nil
}

// now is the time to the second, which is all that a result needs.
func now() time.Time { return time.Now().UTC().Truncate(time.Second) }
