package page

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/millrace-net/millrace/cmd/millrace/lab/machine"
	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
)

func sample() Report {
	r := &result.Result{
		Experiment: "rx-test", Question: "Is <it> faster?", Rounds: 8, Seed: 1,
		Started: time.Unix(0, 0), Interrupted: true,
		Machine: machine.Machine{CPU: "Test CPU", CPUs: 4},
		Metrics: []result.Metric{{Name: "mpps", Label: "Mpps", Digits: 2}},
		Claims: []result.Claim{{Text: "faster", Thread: "1.36x", Wanted: "1.5x", Here: "1.6x",
			Holds: result.NotMeasured}},
		Findings: []result.Table{{Title: "What was <found>", Note: "look at the gain",
			Columns: []string{"mode", "gain"},
			Rows:    [][]result.Cell{{result.Text("strict"), result.Text("+14.5 %%")}}}},
		NotRun: []result.NotRun{{Name: "x", Reason: "needs 3 CPUs"}},
	}
	for _, d := range []int{4, 8} {
		c := result.Case{Name: fmt.Sprintf("flood/distance=%d", d), Against: "flood/distance=0",
			Metric: "mpps"}
		for n := range 8 {
			c.Rounds = append(c.Rounds, result.Round{Number: n,
				Baseline: result.Values{"mpps": 2 + float64(n%3)/100},
				Variant:  result.Values{"mpps": 3 + float64(n%2)/100},
			})
		}
		r.Cases = append(r.Cases, c)
	}
	r.Cases[0].Rounds[2].Invalid = "steal: 10 ms"
	r.Judge()
	all := func(*result.Case) bool { return true }
	return Report{r, []Picture{
		{Title: "By distance", See: "look down", Kind: Lines, Metric: "mpps", X: "distance",
			XLabel: "strides", YLabel: "Mpps", Where: all,
			Series: func(c *result.Case) string { return c.Key("") }},
		{Title: "By distance, all", See: "look at two lines", Kind: Lines, Metric: "mpps",
			X: "distance", Base: "none", Log: true, XLabel: "strides", YLabel: "Mpps", Where: all,
			Series: func(c *result.Case) string { return c.Key("") }},
		{Title: "Ratios", See: "look right", Kind: Ratios, Where: all},
		{Title: "Rounds", See: "look at both", Kind: Rounds, Metric: "mpps", YLabel: "Mpps",
			Where: all},
		{Title: "Nothing", See: "absent", Kind: Ratios,
			Where: func(*result.Case) bool { return false }},
	}}
}

// The page is one file: it fetches nothing and runs nothing. Every picture is
// well-formed, has a caption, and says what its axes are.
func TestPage(t *testing.T) {
	var b bytes.Buffer
	if err := Write(&b, []Report{sample()}); err != nil {
		t.Fatal(err)
	}
	text := b.String()
	for _, ban := range []string{"<script", "<link", "src=", "@import", "url(", "fetch("} {
		if strings.Contains(text, ban) {
			t.Errorf("the page has %q", ban)
		}
	}
	for _, address := range regexp.MustCompile(`https?://[^"]*`).FindAllString(text, -1) {
		if !strings.HasPrefix(address, "http://www.w3.org/") {
			t.Errorf("the page names %s", address)
		}
	}
	for _, want := range []string{"Is &lt;it&gt; faster?", "Interrupted", "Test CPU",
		"needs 3 CPUs",
		"flood/<wbr>distance=4", `class="not-measured"`, `class="faster"`, "steal in 1 of 16",
		"What was &lt;found&gt;", "look at the gain", "14.5 %</td>",
		"look down", "look right", "look at both"} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in the page", want)
		}
	}
	pictures := regexp.MustCompile(`(?s)<svg.*?</svg>`).FindAllString(text, -1)
	if len(pictures) != 4 || strings.Contains(text, "Nothing") {
		t.Fatalf("%d pictures", len(pictures))
	}
	for i, want := range [][]string{
		{"strides", "Mpps", "flood"},
		{"strides", "flood", "none", ">4<", ">8<"},
		{"rate of the variant over that of the baseline", "flood/distance=8"},
		{"round", "Mpps", "baseline", "variant", "disturbed"},
	} {
		if err := wellFormed(pictures[i]); err != nil {
			t.Errorf("picture %d: %v", i, err)
		}
		for _, label := range want {
			if !strings.Contains(pictures[i], label) {
				t.Errorf("picture %d has no %q", i, label)
			}
		}
	}
}

func wellFormed(svg string) error {
	for d := xml.NewDecoder(strings.NewReader(svg)); ; {
		if _, err := d.Token(); err == io.EOF {
			return nil
		} else if err != nil {
			return err
		}
	}
}

func TestPictureRefusesNamesWithoutTheKey(t *testing.T) {
	r := sample()
	r.Pictures[0].X = "missing"
	err := Write(io.Discard, []Report{r})
	if err == nil || !strings.Contains(err.Error(), "missing") {
		t.Errorf("%v", err)
	}
}

func TestTicks(t *testing.T) {
	for _, x := range []struct {
		low, high float64
		want      string
	}{{0, 600, "0 100 200 300 400 500 600"}, {0, 8, "0 2 4 6 8"},
		{0.95, 1.62, "1 1.1 1.2 1.3 1.4 1.5 1.6"}, {1, 6, "1 2 3 4 5 6"},
		{0, 0.3, "0 0.05 0.1 0.15 0.2 0.25 0.3"}} {
		var labels []string
		for _, tick := range ticks(x.low, x.high) {
			labels = append(labels, tick.Label)
		}
		if got := strings.Join(labels, " "); got != x.want {
			t.Errorf("%v to %v: %s, want %s", x.low, x.high, got, x.want)
		}
	}
}
