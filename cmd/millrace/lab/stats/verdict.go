package stats

// A Verdict is what a comparison comes to, in words.
type Verdict string

const (
	Faster       Verdict = "faster"
	Slower       Verdict = "slower"
	NoDifference Verdict = "no difference"
	Invalid      Verdict = "invalid"
)

// MinThreshold is the smallest change of a ratio that is called a difference:
// code that moved in memory changes as much.
const MinThreshold = 0.01

// Judge decides on a ratio of rates. A difference must pass three tests: ranks
// apart (p), an interval without 1, and more than the noise threshold.
func Judge(ratio Interval, p, threshold float64) Verdict {
	switch {
	case p >= Alpha:
		return NoDifference
	case ratio.Low > 1 && ratio.Value >= 1+threshold:
		return Faster
	case ratio.High < 1 && ratio.Value <= 1-threshold:
		return Slower
	}
	return NoDifference
}

// Threshold is the noise threshold that a comparison of the baseline with
// itself leaves: no change is called a difference that is not larger than what
// was seen there.
func Threshold(same Interval) float64 { return max(MinThreshold, same.High-1, 1-same.Low) }

// Detectable is the smallest change of the ratio that such a comparison finds
// four times in five: 2.8 standard errors, where the interval spans 3.92. It
// is never below the noise threshold.
func Detectable(ratio Interval, threshold float64) float64 {
	return max(threshold, (ratio.High-ratio.Low)/ratio.Value*2.8/3.92)
}
