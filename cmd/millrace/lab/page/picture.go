package page

import (
	"bytes"
	"fmt"
	"image/color"
	"math"
	"regexp"
	"strconv"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/font"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
	"gonum.org/v1/plot/vg/vgsvg"

	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
)

// Kind is the form of a picture.
type Kind uint8

const (
	Lines  Kind = iota // a metric over a number in the names of cases
	Ratios             // ratio and interval of each case
	Rounds             // baseline and variant of one case, round by round
)

// A Picture says what to draw of a result. See is its caption: what to look at.
type Picture struct {
	Title, See     string
	Kind           Kind
	Metric         string // Lines, Rounds
	X              string // Lines: the key whose number is the x axis
	Base           string // Lines: name of a line of the baselines; "": they are at 0
	Log            bool   // with Base: the x axis is logarithmic, with a mark for each number
	XLabel, YLabel string
	Where          func(*result.Case) bool
	Series         func(*result.Case) string // Lines: the line that a case belongs to
}

// Sizes in points. A picture is as wide as the page of a telephone.
const (
	width     = vg.Length(264)
	height    = vg.Length(180)
	rowHeight = vg.Length(25)
	textSize  = 8
)

// palette is readable for the colour-blind (Okabe and Ito).
var palette = []color.Color{
	color.RGBA{0x00, 0x72, 0xb2, 0xff}, color.RGBA{0xd5, 0x5e, 0x00, 0xff},
	color.RGBA{0x00, 0x9e, 0x73, 0xff}, color.RGBA{0xcc, 0x79, 0xa7, 0xff},
	color.RGBA{0xe6, 0x9f, 0x00, 0xff}, color.RGBA{0x56, 0xb4, 0xe9, 0xff},
}

var grey = color.RGBA{0x88, 0x88, 0x88, 0xff}

// draw makes SVG; "" where the result has no case for it.
func (p *Picture) draw(r *result.Result) (string, error) {
	var cases []*result.Case
	for i := range r.Cases {
		if c := &r.Cases[i]; p.Where(c) && (c.Ratio != nil || p.Kind == Rounds) {
			cases = append(cases, c)
		}
	}
	if len(cases) == 0 {
		return "", nil
	}
	canvas, h := styled(), height
	var err error
	switch p.Kind {
	case Lines:
		err = p.lines(canvas, cases)
	case Ratios:
		h = 42 + rowHeight*vg.Length(len(cases))
		err = p.ratios(canvas, cases)
	case Rounds:
		err = p.rounds(canvas, cases[0])
	}
	if err != nil {
		return "", err
	}
	return svg(canvas, h)
}

// styled is an empty plot with small text without serifs.
func styled() *plot.Plot {
	p := plot.New()
	for _, f := range []*font.Font{
		&p.X.Label.TextStyle.Font, &p.Y.Label.TextStyle.Font, &p.X.Tick.Label.Font,
		&p.Y.Tick.Label.Font, &p.Legend.TextStyle.Font,
	} {
		f.Variant, f.Size = "Sans", textSize
	}
	p.Legend.Top, p.Legend.XOffs, p.Legend.Padding = true, -4, 2
	p.X.Padding, p.Y.Padding = 4, 4
	p.X.Tick.Marker, p.Y.Tick.Marker = plot.TickerFunc(ticks), plot.TickerFunc(ticks)
	return p
}

// ticks are at most seven round numbers.
func ticks(low, high float64) (list []plot.Tick) {
	const most = 7
	step := math.Pow(10, math.Floor(math.Log10((high-low)/most)))
	for _, times := range []float64{2, 2.5, 2} { // 1, 2, 5, 10
		if (high-low)/step > most {
			step *= times
		}
	}
	for n := math.Ceil(low / step); n*step <= high+step/1000; n++ {
		v := n * step
		list = append(list, plot.Tick{Value: v, Label: strconv.FormatFloat(v, 'g', 4, 64)})
	}
	return list
}

// size is in the first tag of an image, which is to be as large as the page
// lets it.
var size = regexp.MustCompile(`(?s)^.*?<svg width="[^"]*" height="[^"]*"`)

func svg(p *plot.Plot, h vg.Length) (string, error) {
	c := vgsvg.New(width, h)
	p.Draw(draw.New(c))
	var b bytes.Buffer
	if _, err := c.WriteTo(&b); err != nil {
		return "", err
	}
	if !size.Match(b.Bytes()) {
		return "", fmt.Errorf("no size in %.80q", b.String())
	}
	return size.ReplaceAllString(b.String(), `<svg role="img"`), nil
}
