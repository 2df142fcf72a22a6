package page

import (
	_ "embed"
	"fmt"
	"html/template"
	"io"
	"strings"

	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/cmd/millrace/lab/stats"
)

// A Report is one experiment on the page.
type Report struct {
	Result   *result.Result
	Pictures []Picture
}

//go:embed page.html
var source string

var page = template.Must(template.New("page").Funcs(template.FuncMap{
	"values": values, "ratio": ratioText, "p": pText, "percent": percent, "class": class,
	"breaks": breaks,
}).Parse(source))

// A drawn picture, ready for the template.
type drawn struct {
	Title, See string
	SVG        template.HTML
}

type section struct {
	*result.Result
	Pictures []drawn
}

// Write writes the page.
func Write(w io.Writer, reports []Report) error {
	var sections []section
	for _, r := range reports {
		s := section{Result: r.Result}
		for i := range r.Pictures {
			svg, err := r.Pictures[i].draw(r.Result)
			if err != nil {
				return fmt.Errorf("picture %q: %w", r.Pictures[i].Title, err)
			}
			if svg != "" {
				s.Pictures = append(s.Pictures,
					drawn{r.Pictures[i].Title, r.Pictures[i].See, template.HTML(svg)})
			}
		}
		sections = append(sections, s)
	}
	return page.Execute(w, sections)
}

func values(m result.Metric, c result.Case) string {
	return fmt.Sprintf("%.*f → %.*f", m.Digits, c.Baseline[m.Name], m.Digits, c.Variant[m.Name])
}

func ratioText(i *stats.Interval) string {
	if i == nil {
		return "–"
	}
	return fmt.Sprintf("%.3f [%.3f, %.3f]", i.Value, i.Low, i.High)
}

func pText(p *float64) string {
	if p == nil {
		return "–"
	}
	return result.PText(*p)
}

func percent(v float64) string { return fmt.Sprintf("%.1f %%", 100*v) }

// class turns "no difference" into a class of CSS.
func class(v any) string { return strings.ReplaceAll(fmt.Sprint(v), " ", "-") }

// breaks lets a long name of a case be broken behind its slashes.
func breaks(name string) template.HTML {
	return template.HTML(strings.ReplaceAll(template.HTMLEscapeString(name), "/", "/<wbr>"))
}
