package page

import (
	"fmt"
	"slices"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/plotter"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg/draw"

	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
)

// lines draws a metric over a key, a line for each series. Bars are quartiles
// of the rounds.
func (p *Picture) lines(c *plot.Plot, cases []*result.Case) error {
	c.X.Label.Text, c.Y.Label.Text = p.XLabel, p.YLabel
	var names []string
	for _, k := range cases {
		if n := p.Series(k); !slices.Contains(names, n) {
			names = append(names, n)
		}
	}
	for i, name := range names {
		s, err := p.series(cases, name)
		if err == nil {
			err = s.draw(c, name, i)
		}
		if err != nil {
			return err
		}
	}
	if p.Base != "" {
		s, err := p.baselines(cases)
		if err == nil {
			err = s.draw(c, p.Base, len(names))
		}
		if err != nil {
			return err
		}
		if p.Log {
			c.X.Scale, c.X.Tick.Marker = plot.LogScale{}, s.marks()
			c.X.Max *= 1.25                         // room for half a label
			c.Legend.Left, c.Legend.XOffs = true, 4 // where what is small costs least
		}
	}
	c.Y.Min = 0
	c.Y.Max *= 1.3 // room for the legend
	return nil
}

// series are the points of a line.
func (p *Picture) series(cases []*result.Case, name string) (s spread, err error) {
	for _, k := range cases {
		if p.Series(k) != name {
			continue
		}
		x, err := p.number(k)
		if err != nil {
			return s, err
		}
		if len(s.XYs) == 0 && p.Base == "" {
			s.add(0, column(k, p.Metric, baseline))
		}
		s.add(x, column(k, p.Metric, variant))
	}
	return s, nil
}

// baselines are the points of the baselines, one for each x.
func (p *Picture) baselines(cases []*result.Case) (s spread, err error) {
	for _, k := range cases {
		x, err := p.number(k)
		if err != nil {
			return s, err
		}
		if !slices.ContainsFunc(s.XYs, func(p plotter.XY) bool { return p.X == x }) {
			s.add(x, column(k, p.Metric, baseline))
		}
	}
	return s, nil
}

// number is where a case stands on the x axis.
func (p *Picture) number(k *result.Case) (float64, error) {
	x, err := strconv.ParseFloat(k.Key(p.X), 64)
	if err != nil {
		return 0, fmt.Errorf("%s: no number behind %s", k.Name, p.X)
	}
	return x, nil
}

// marks are ticks at the points.
func (s *spread) marks() (list plot.ConstantTicks) {
	for _, p := range s.XYs {
		list = append(list, plot.Tick{Value: p.X, Label: strconv.FormatFloat(p.X, 'g', -1, 64)})
	}
	return list
}

// gap stands between a name in the legend and its sign.
const gap = "  "

func baseline(r *result.Round) result.Values { return r.Baseline }
func variant(r *result.Round) result.Values  { return r.Variant }

// column are the values of valid rounds, sorted.
func column(c *result.Case, metric string, side func(*result.Round) result.Values) []float64 {
	var list []float64
	for i := range c.Rounds {
		if r := &c.Rounds[i]; r.Invalid == "" {
			list = append(list, side(r)[metric])
		}
	}
	slices.Sort(list)
	return list
}

// spread is points with bars from quartile to quartile.
type spread struct {
	plotter.XYs
	plotter.YErrors
}

func (s *spread) add(x float64, sorted []float64) {
	n := len(sorted)
	mid := (sorted[(n-1)/2] + sorted[n/2]) / 2
	s.XYs = append(s.XYs, plotter.XY{X: x, Y: mid})
	s.YErrors = append(s.YErrors, struct{ Low, High float64 }{
		mid - sorted[n/4], sorted[n-1-n/4] - mid,
	})
}

func (s *spread) draw(c *plot.Plot, name string, i int) error {
	line, dots, err := plotter.NewLinePoints(s.XYs)
	if err != nil {
		return err
	}
	bars, err := plotter.NewYErrorBars(s)
	if err != nil {
		return err
	}
	tint := palette[i%len(palette)]
	line.Color, line.Width = tint, 1.2
	dots.Color, dots.Shape, dots.Radius = tint, draw.CircleGlyph{}, 2.2
	bars.Color, bars.CapWidth = tint, 4
	c.Add(bars, line, dots)
	c.Legend.Add(name+gap, line, dots)
	return nil
}

// ratios draws a row for each case: its name, and below that the ratio with
// its interval, beside a line at 1.
func (p *Picture) ratios(c *plot.Plot, cases []*result.Case) error {
	c.X.Label.Text = "rate of the variant over that of the baseline"
	c.HideY()
	low, high := 1.0, 1.0
	var dots plotter.XYs
	var bars plotter.XErrors
	labels := plotter.XYLabels{}
	for i, k := range cases {
		y := float64(len(cases) - 1 - i)
		r := k.Ratio
		low, high = min(low, r.Low), max(high, r.High)
		dots = append(dots, plotter.XY{X: r.Value, Y: y})
		bars = append(bars, struct{ Low, High float64 }{r.Value - r.Low, r.High - r.Value})
		labels.Labels = append(labels.Labels, k.Name)
	}
	room := max(0.05, (high-low)*0.05)
	c.X.Min, c.X.Max = low-room, high+room
	c.Y.Min, c.Y.Max = -0.4, float64(len(cases))-0.3
	for i := range cases {
		labels.XYs = append(labels.XYs, plotter.XY{X: c.X.Min, Y: dots[i].Y + 0.3})
	}
	for _, d := range dots {
		// A piece a row, so that it does not run through the names.
		one, err := plotter.NewLine(plotter.XYs{{X: 1, Y: d.Y - 0.4}, {X: 1, Y: d.Y + 0.15}})
		if err != nil {
			return err
		}
		one.Color, one.Width = grey, 1
		c.Add(one)
	}
	return addRows(c, dots, bars, labels)
}

func addRows(c *plot.Plot, dots plotter.XYs, bars plotter.XErrors, labels plotter.XYLabels) error {
	points, err := plotter.NewScatter(dots)
	if err != nil {
		return err
	}
	whiskers, err := plotter.NewXErrorBars(struct {
		plotter.XYs
		plotter.XErrors
	}{dots, bars})
	if err != nil {
		return err
	}
	names, err := plotter.NewLabels(labels)
	if err != nil {
		return err
	}
	points.Color, points.Shape, points.Radius = palette[0], draw.CircleGlyph{}, 2.6
	whiskers.Color, whiskers.Width, whiskers.CapWidth = palette[0], 1.2, 5
	for i := range names.TextStyle {
		s := &names.TextStyle[i]
		s.Font.Variant, s.Font.Size, s.YAlign = "Sans", textSize-1.5, text.YCenter
	}
	c.Add(whiskers, points, names)
	return nil
}

// rounds draws both sides of a case in the order they were measured. What was
// disturbed is a grey cross.
func (p *Picture) rounds(c *plot.Plot, k *result.Case) error {
	c.X.Label.Text, c.Y.Label.Text = "round", p.YLabel
	var base, variant, bad plotter.XYs
	for i := range k.Rounds {
		r := &k.Rounds[i]
		x := float64(r.Number + 1)
		b, v := plotter.XY{X: x, Y: r.Baseline[p.Metric]}, plotter.XY{X: x, Y: r.Variant[p.Metric]}
		if r.Invalid != "" {
			bad = append(bad, b, v)
			continue
		}
		base, variant = append(base, b), append(variant, v)
	}
	for i, s := range []struct {
		name string
		xys  plotter.XYs
	}{{"baseline", base}, {"variant", variant}, {"disturbed", bad}} {
		if len(s.xys) == 0 {
			continue
		}
		dots, err := plotter.NewScatter(s.xys)
		if err != nil {
			return err
		}
		dots.Color, dots.Shape, dots.Radius = palette[1-i%2], draw.CircleGlyph{}, 2.4
		if s.name == "disturbed" {
			dots.Color, dots.Shape = grey, draw.CrossGlyph{}
		}
		c.Add(dots)
		c.Legend.Add(s.name+gap, dots)
	}
	c.Y.Min = 0
	c.Y.Max *= 1.3
	return nil
}
