package lab

import (
	"bytes"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/tx"
)

// The cases of tx-small, without those that a WQE has no room for: 1066 and 1090
// bytes inline.
const (
	txWhole = 4*(3*2*6-4) + 2 + // modes, requests and responses; slow invalidations
		4*7*(3*7-2+3) + // sizes: ways by thresholds, headers, kept, auto
		4*3*(2*6-1+2*3) + // pages and doorbells
		2*2*(3*7-2) // requests and responses by threshold
	txQuick = 4*(2*6-1) + 4 + 2 + 4*(2*6+4)
)

func TestTxNames(t *testing.T) {
	large := flood(256, dma.Lazy, wayInline, 256)
	slow := request(1, 1, 250, dma.Strict, wayAuto)
	slow.invalidateNs = slowInvalidateNs
	few := request(200, 1000, 50, dma.Bounce, wayPremapped)
	few.copybreak, few.pageBytes, few.batch = 128, 64<<10, 8
	for _, x := range []struct {
		want string
		c    txCase
	}{
		{"rr1c-1x1-250/iommu=strict/way=auto", request(1, 1, 250, dma.Strict, wayAuto)},
		{"rr1c-1x1-250/iommu=strict/invalidate=1000ns/way=auto", slow},
		{"rr1c-200x1000-50/iommu=bounce/way=premapped/copybreak=128/pages=64KiB/batch=8", few},
		{"flood/size=256/iommu=lazy/way=inline/copybreak=256/pages=4KiB/batch=32", large},
		{"flood/size=64/iommu=strict/way=mapped/pages=4KiB/batch=32",
			flood(64, dma.Strict, wayMapped, 0)},
		{"flood/size=64/iommu=strict/way=auto/pages=4KiB/batch=32",
			flood(64, dma.Strict, wayAuto, everything)},
	} {
		if got := x.c.name(); got != x.want {
			t.Errorf("%s, want %s", got, x.want)
		}
	}
}

// The thresholds of a case are those of its queue; buffers have room for them.
func TestTxConfigs(t *testing.T) {
	for _, x := range []struct {
		c    txCase
		want tx.Copybreak
		buf  int
	}{
		{flood(64, 0, wayMapped, everything), tx.Copybreak{}, 0},
		{flood(64, 0, wayInline, 512), tx.Copybreak{Way: tx.Inline, Bytes: 512}, 0},
		{flood(64, 0, wayPremapped, 256), tx.Copybreak{Way: tx.Premapped, Bytes: 256}, 256},
		{flood(64, 0, wayPremapped, 512), tx.Copybreak{Way: tx.Premapped, Bytes: 512}, 512},
		{request(200, 1000, 1, 0, wayPremapped),
			tx.Copybreak{Way: tx.Premapped, Bytes: 1066}, 2048},
		{request(1, 1, 1, 0, wayHeaders), tx.Copybreak{Way: tx.Premapped}, 0},
		{request(1, 1, 1, 0, wayKept), tx.Copybreak{Way: tx.Premapped}, 0},
		{request(1, 1, 1, 0, wayLinearize), tx.Copybreak{Way: tx.Linearize, Bytes: 67}, 0},
		{request(1, 1, 1, 0, wayAuto), tx.Copybreak{Auto: true}, 2048},
	} {
		if got := x.c.config(); got.Copybreak != x.want || got.BufBytes != x.buf {
			t.Errorf("%s: %v with buffers of %d", x.c.name(), got.Copybreak, got.BufBytes)
		}
	}
}

func TestCrossing(t *testing.T) {
	sizes := []float64{64, 128, 256, 512}
	for _, x := range []struct {
		costs []float64
		want  float64
	}{
		{[]float64{-10, -5, 5, 20}, 192}, // half way from 128 to 256
		{[]float64{-30, -10, -10, 30}, 320},
		{[]float64{-1, -1, -1, -1}, 512},
		{[]float64{1, -1, -1, -1}, 0},
		{[]float64{-1, 0, -1, -1}, 128},
		{[]float64{-10, 10, -10, 10}, 96}, // the first
	} {
		if got := crossing(sizes, x.costs); math.Abs(got-x.want) > 1e-9 {
			t.Errorf("%v: %v, want %v", x.costs, got, x.want)
		}
	}
}

// floods are cases of a way of which a packet takes so much more than mapping,
// by size, in each round a little more.
func floods(mode dma.Mode, way string, more func(size, round int) float64) (list []result.Case) {
	for _, size := range txSizes {
		if size > txWidest[way] {
			continue
		}
		c := result.Case{Name: flood(size, mode, way, txWidest[way]).name(),
			Metric: "mpps_per_driver_core"}
		for n := range 12 {
			base, ns := 300+float64(size)/10, 0.0
			ns = base + more(size, n)
			c.Rounds = append(c.Rounds, result.Round{Number: n, Clock: 1000,
				Baseline: result.Values{"ns_per_packet": base, "mpps_per_driver_core": 1e3 / base},
				Variant:  result.Values{"ns_per_packet": ns, "mpps_per_driver_core": 1e3 / ns},
			})
		}
		list = append(list, c)
	}
	return list
}

// A line that crosses at 300 bytes and a bit more in each round crosses there;
// a disturbed round counts for nothing.
func TestCrossover(t *testing.T) {
	line := func(size, round int) float64 { return float64(size-300-10*(round-6)) / 10 }
	r := &result.Result{Cases: floods(dma.Strict, wayPremapped, line)}
	r.Cases[2].Rounds[3].Variant["ns_per_packet"] = 1e6
	r.Cases[2].Rounds[3].Invalid = "steal: 10 ms"
	r.Judge()
	x, err := crossoverOf(floodsOf(r, dma.Strict, wayPremapped), "ns_per_packet")
	if err != nil || x.Value < 285 || x.Value > 315 || x.Low < 240 || x.Low >= x.Value ||
		x.High > 360 || x.High <= x.Value || x.largest != 1514 {
		t.Errorf("%+v, %v", x, err)
	}
	for want, more := range map[string]func(size, round int) float64{
		"no size":          func(int, int) float64 { return 5 },
		"all, to 512 B":    func(int, int) float64 { return -5 },
		"320 B [320, 320]": func(size, _ int) float64 { return float64(size - 320) },
	} {
		r := &result.Result{Cases: floods(dma.Lazy, wayInline, more)}
		r.Judge()
		x, err := crossoverOf(floodsOf(r, dma.Lazy, wayInline), "ns_per_packet")
		if err != nil || x.String() != want {
			t.Errorf("%s, %v, want %s", x, err, want)
		}
	}
	if _, err := crossoverOf(nil, "ns_per_packet"); err == nil {
		t.Error("a crossover of nothing")
	}
}

// exchangeCase is a case of requests and responses that is so much faster.
func exchangeCase(workload string, mode dma.Mode, way string, gain, maps float64) result.Case {
	c := result.Case{Name: txName(workload, mode, way), Metric: "mpps_per_driver_core"}
	for n := range 12 {
		base := result.Values{"mpps_per_driver_core": 2, "maps_per_packet": 2,
			"invalidations_per_packet": 2, "copybreak_way": 1, "copybreak_bytes": 192}
		v := result.Values{"mpps_per_driver_core": 2 * gain, "maps_per_packet": maps,
			"invalidations_per_packet": maps, "copybreak_way": 1, "copybreak_bytes": 192}
		if n == 5 {
			v["copybreak_way"], v["copybreak_bytes"] = 2, 256
		}
		c.Rounds = append(c.Rounds, result.Round{Number: n, Baseline: base, Variant: v})
	}
	return c
}

// The table has a row for each mode and way that was measured, and is in every
// form of a result.
func TestTxFindings(t *testing.T) {
	r := &result.Result{Experiment: "tx-small", Cases: []result.Case{
		exchangeCase(rrSmall, dma.Strict, wayAuto, 1.25, 0),
		exchangeCase(rrLarge, dma.Strict, wayAuto, 1.125, 1),
		exchangeCase(rrSmall, dma.Strict, wayInline, 1.5, 0),
	}}
	r.Cases = append(r.Cases, floods(dma.Strict, wayInline, func(size, _ int) float64 {
		return float64(size - 320)
	})...)
	r.Judge()
	r.Findings = txSmallFindings(r)
	if len(r.Findings) != 1 || len(r.Findings[0].Rows) != 2 {
		t.Fatalf("%+v", r.Findings)
	}
	var rows []string
	for _, row := range r.Findings[0].Rows {
		var cells []string
		for _, c := range row {
			cells = append(cells, c.Text)
		}
		rows = append(rows, strings.Join(cells, " | "))
	}
	want := []string{
		"strict | auto | +25.0 % [+25.0, +25.0] | +12.5 % [+12.5, +12.5] | " +
			"chose inline 192, premapped 256 | 2.00 of 2.00 | 2.000 of 2.000",
		"strict | inline | +50.0 % [+50.0, +50.0] | not run | 320 B [320, 320] | " +
			"2.00 of 2.00 | 2.000 of 2.000",
	}
	if !slices.Equal(rows, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(rows, "\n"), strings.Join(want, "\n"))
	}
	var b bytes.Buffer
	if err := r.Table(&b); err != nil || !strings.Contains(b.String(), "+12.5 % [+12.5, +12.5]") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if got := txSmallFindings(&result.Result{}); got != nil {
		t.Errorf("findings of nothing: %+v", got)
	}
}

func TestMonotone(t *testing.T) {
	for want, more := range map[string]func(size, round int) float64{
		"4 curves, none falls": func(size, _ int) float64 { return float64(size) },
		"128 B 38.2 % below 64 B": func(size, _ int) float64 {
			return map[int]float64{64: 200}[size]
		},
	} {
		r := &result.Result{Cases: floods(dma.Strict, wayPremapped, more)}
		r.Cases = append(r.Cases, floods(dma.Strict, wayInline, more)...)
		r.Cases = append(r.Cases, floods(dma.Strict, wayLinearize, more)...)
		slow := &r.Cases[1] // with half the clock all takes twice as long
		for k := range slow.Rounds {
			for _, v := range []result.Values{slow.Rounds[k].Baseline, slow.Rounds[k].Variant} {
				v["ns_per_packet"] *= 2
			}
			slow.Rounds[k].Clock *= 2
		}
		r.Judge()
		here, holds := monotone(r)
		if !strings.Contains(here, want) || (holds == result.Yes) != strings.HasPrefix(want, "4") {
			t.Errorf("%s, %s, want %s", here, holds, want)
		}
	}
}

func TestWithinCopybreak(t *testing.T) {
	for want, cases := range map[bool][]txCase{
		true: {flood(256, 0, wayInline, 256), flood(64, 0, wayPremapped, 2048),
			request(1, 1, 250, 0, wayInline)},
		false: {flood(257, 0, wayInline, 256), flood(64, 0, wayLinearize, 2048),
			request(1, 1, 250, 0, wayHeaders), request(1, 1, 250, 0, wayAuto)},
	} {
		for _, c := range cases {
			if got := withinCopybreak(&result.Case{Name: c.name()}); got != want {
				t.Errorf("%s: %v", c.name(), got)
			}
		}
	}
}

// The whole matrix stays within what a person waits for: measurements of 30 ms.
func TestTxMatrixIsBounded(t *testing.T) {
	for quick, most := range map[bool]int{true: 160, false: 1250} {
		n := 0
		for _, g := range txGroups(quick) {
			n += 1 + len(g)
		}
		if n > most {
			t.Errorf("quick %v: %d measurements a round, at most %d", quick, n, most)
		}
		t.Logf("quick %v: %d measurements a round", quick, n)
	}
}
