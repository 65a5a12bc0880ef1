// Package samples holds the statistics of repeated measurements: medians with
// intervals that assume nothing about the distribution, and a test for
// regressions that is made not to cry wolf.
//
// # When is it a regression
//
// Times on shared machines have a floor, which the program sets, and a tail
// upwards, which the machine does. Means and deviations follow the tail.
// [Compare] calls new samples slower than old ones by more than a threshold
// only if three figures say so at once:
//
//   - the median is higher by more than the threshold;
//   - the minimum is, too: a busy machine moves the median, but in a few
//     samples it rarely spoils every one;
//   - a Mann-Whitney test refuses, at the level [Level], that the new samples
//     come from the old ones' distribution stretched by the threshold. It
//     looks at ranks only, so one wild sample weighs no more than a slow one.
//     For few samples its probability is exact, ties included.
//
// Fewer than [Needed] samples on either side can't reach the level and are
// never a regression; Verdict.Enough tells.
//
// Whoever acts on a verdict should measure again and demand the same verdict
// of samples that are independent of the first: that squares the chance of a
// false alarm and outlasts a disturbance of some seconds. Samples of another
// machine, or of this one at another clock rate, have other floors; [Scale]
// brings them to a common unit by a reference load measured beside them.
package samples
