// Package stats decides whether two series of measurements differ.
//
//	rounds:  baseline 1, variant 1 | variant 2, baseline 2 | ...
//	              \______/              \______/
//	             ratio 1                ratio 2        -> median, interval
//	baselines, variants ------------------------------> Mann-Whitney -> p
//
// Both sides of a round run within a fraction of a second, so a machine that
// becomes slower slows both: the ratio is taken round by round. Nothing is
// assumed of the distributions. Intervals of paired rounds are exact (order
// statistics), those of separate runs bootstrapped from a fixed seed.
//
// The trap: an interval tells how well the median is known, not how large the
// next single measurement may be.
package stats
