// Package result holds what an experiment found and writes it down.
//
//	rounds -> Case: medians, ratio, p, verdict --+
//	experiment -> Claim -------------------------+-> Result -> Table, JSON,
//	machine.Describe -> Machine -----------------+             Benchstat, Markdown
//
// A Result keeps the raw values of every round, the disturbed ones with the
// reason too: whoever doubts a verdict can compute it again. Compare puts two
// Results side by side.
//
// The trap: ratios are those of rates, so above 1 is better, also where a
// table shows nanoseconds beside them.
package result
