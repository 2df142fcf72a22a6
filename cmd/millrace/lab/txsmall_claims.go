package lab

import (
	"fmt"
	"math"
	"strings"

	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/cmd/millrace/lab/stats"
	"github.com/millrace-net/millrace/dma"
)

var txSmallClaims = []Claim{
	{"strict, 1x1, 250 connections, way=auto: transactions/s", "+14.53 %", "at least +12 %",
		atLeast(txName(rrSmall, dma.Strict, wayAuto), 1.12)},
	{"strict, 200x1000, 250 connections, way=auto", "+12.24 %", "at least +10 %",
		atLeast(txName(rrLarge, dma.Strict, wayAuto), 1.10)},
	{"strict, 1x1, 50 connections, way=auto", "+4.75 %", "more",
		above(txName(rrSmallFew, dma.Strict, wayAuto))},
	{"strict, 200x1000, 50 connections, way=auto", "+2.22 %", "more",
		above(txName(rrLargeFew, dma.Strict, wayAuto))},
	{"passthrough, 1x1, way=auto costs nothing", "-", "at least 0.98x",
		atLeast(txName(rrSmall, dma.Passthrough, wayAuto), 0.98)},
	{"passthrough, 200x1000, way=auto costs nothing", "-", "at least 0.98x",
		atLeast(txName(rrLarge, dma.Passthrough, wayAuto), 0.98)},
	{"passthrough, 1x1, a doorbell for each packet, way=auto costs nothing", "-",
		"at least 0.98x", atLeast(txName(rrSmall, dma.Passthrough, wayAuto)+"/batch=1", 0.98)},
	{"passthrough, 1x1, a doorbell for each packet, way=linearize", "-4 to -10 %", "less",
		below(txName(rrSmall, dma.Passthrough, wayLinearize) + "/batch=1")},
	{"maps of a packet that is mapped", "2", "2",
		each(everyTx, "%.2f to %.2f in %d cases", baselineOf("maps_per_packet"), exactly(2))},
	{"maps of a packet within the threshold, inline or premapped", "-", "0",
		each(withinCopybreak, "%.2f to %.2f in %d cases", variantOf("maps_per_packet"),
			exactly(0))},
	{"maps of a packet of which headers are copied", "-", "at most 1",
		each(func(c *result.Case) bool { return c.Key("way") == wayHeaders },
			"%.2f to %.2f in %d cases", variantOf("maps_per_packet"),
			func(n float64) bool { return n <= 1 })},
	{"invalidations of a packet that is mapped: strict, lazy, passthrough", "-",
		"strict >= lazy >= passthrough = 0", invalidationsByMode},
	{"doorbells of 32 packets, 32 a batch", "-", "at most 1",
		each(inBatches, "%.2f to %.2f in %d cases",
			func(c *result.Case) float64 { return txBatch * c.Variant["doorbells_per_packet"] },
			func(n float64) bool { return n <= 1.0001 })},
	{"cost of a packet by size, each way and mode", "64 B cost less than 128 and 256 B",
		"no size costs less than a smaller one", monotone},
}

func everyTx(*result.Case) bool { return true }

// withinCopybreak: the way takes packets of this size whole.
func withinCopybreak(c *result.Case) bool {
	way := c.Key("way")
	if way != wayInline && way != wayPremapped {
		return false
	}
	var size, threshold int
	if _, err := fmt.Sscan(c.Key("size"), &size); err != nil {
		return c.Key("copybreak") == "" // requests and responses, as far as the way goes
	}
	_, err := fmt.Sscan(c.Key("copybreak"), &threshold)
	return err == nil && size <= threshold
}

// inBatches: packets come in whole batches as usual.
func inBatches(c *result.Case) bool {
	batch := c.Key("batch")
	return batch == fmt.Sprint(txBatch) || batch == "" && strings.HasSuffix(c.Key(""), "-250")
}

func baselineOf(metric string) func(*result.Case) float64 {
	return func(c *result.Case) float64 { return c.Baseline[metric] }
}

func variantOf(metric string) func(*result.Case) float64 {
	return func(c *result.Case) float64 { return c.Variant[metric] }
}

func exactly(want float64) func(float64) bool {
	return func(v float64) bool { return math.Abs(v-want) < 0.005 }
}

// invalidationsByMode compares what mapping costs in the modes.
func invalidationsByMode(r *result.Result) (string, result.Holds) {
	var n [3]float64
	for i, mode := range []dma.Mode{dma.Strict, dma.Lazy, dma.Passthrough} {
		c := r.Find(txName(rrSmall, mode, wayHeaders))
		if c == nil {
			return "", result.NotMeasured
		}
		n[i] = c.Baseline["invalidations_per_packet"]
	}
	return fmt.Sprintf("%.3f, %.3f, %.3f", n[0], n[1], n[2]),
		holds(n[0] >= n[1] && n[1] >= n[2] && n[2] == 0)
}

// monotone looks for a size that costs less than the one before it in each way
// and mode: by more than noise, which some of so many pairs exceed by chance.
func monotone(r *result.Result) (string, result.Holds) {
	curves, falls := 0, []string{}
	for _, mode := range txModes {
		for _, way := range []string{wayMapped, wayInline, wayPremapped, wayLinearize} {
			costs := costsOf(r, mode, way)
			if len(costs) < 2 {
				continue
			}
			curves++
			for i := 1; i < len(costs); i++ {
				a, b := &costs[i-1], &costs[i]
				change, err := stats.Separate(a.cost, b.cost)
				if err == nil && change.High < 1 && change.Value < 1-max(fall, r.Threshold) {
					falls = append(falls, fmt.Sprintf("%s %s: %d B %.1f %% below %d B", mode, way,
						b.size, 100*(1-change.Value), a.size))
				}
			}
		}
	}
	if curves == 0 {
		return "", result.NotMeasured
	}
	if len(falls) > 0 {
		const shown = 3
		return fmt.Sprintf("%d curves; falls: %d, such as %s", curves, len(falls),
			strings.Join(falls[:min(shown, len(falls))], "; ")), result.No
	}
	return fmt.Sprintf("%d curves, none falls", curves), result.Yes
}

// fall is the least part by which a size has to be cheaper to be called so.
const fall = 0.05

// A cost is one point of a curve, in each valid round. Sizes are measured one
// after the other, so it is divided by the clock.
type cost struct {
	size int
	cost []float64
}

// costsOf is the curve of a way; that of mapping is the baseline of the others.
func costsOf(r *result.Result, mode dma.Mode, way string) (list []cost) {
	of := way
	if way == wayMapped {
		of = wayPremapped
	}
	for _, size := range txSizes {
		c := r.Find(flood(size, mode, of, txWidest[of]).name())
		if c == nil || size > txWidest[of] {
			continue
		}
		base, variant := c.Columns("ns_per_packet")
		if way == wayMapped {
			variant = base
		}
		for k, clock := range c.Clocks() {
			variant[k] /= clock
		}
		list = append(list, cost{size, variant})
	}
	return list
}
