package report

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"time"
)

// JSON writes the report as one object on one line.
func (r *Report) JSON(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetEscapeHTML(false)
	return e.Encode(r)
}

// Table writes the report for people.
func (r *Report) Table(out io.Writer) error {
	w := bufio.NewWriter(out)
	fmt.Fprintf(w, "%s -> %s, %v, %d queue%s, MTU %d, seed %d\n", r.From, r.To,
		r.Duration.Round(time.Millisecond), r.Queues, plural(r.Queues), r.MTU, r.Seed)
	r.traffic(w)
	fmt.Fprintf(w, "ns a frame  %s\n", r.Cost)
	r.XDP.table(w)
	r.merging(w)
	r.TX.table(w)
	reasons(w, "dropped", total(r.Drops), r.Drops)
	p := &r.Pool
	fmt.Fprintf(w, "pool        %d pages: %d free, %d posted, %d held; "+
		"%d allocations, %d of them slow, %d recycled\n",
		p.Pages, p.Free, p.Posted, p.Held, p.Allocs, p.Slow, p.Recycled)
	if r.Balanced {
		fmt.Fprintln(w, "books       balance: received = delivered + dropped, all buffers home")
	}
	for _, line := range r.Imbalance {
		fmt.Fprintln(w, "books       DO NOT BALANCE:", line)
	}
	if r.Counters != nil {
		r.Counters.table(w)
	}
	return w.Flush()
}

func (r *Report) traffic(w io.Writer) {
	fmt.Fprintf(w, "received    %d frames, %s L2: %s\n", r.Packets,
		rate(float64(r.BytesL2), "B"), r.Rates)
	fmt.Fprintf(w, "delivered   %d packets of %d frames, %s L2\n", r.Delivered.Packets,
		r.Delivered.Segments, rate(float64(r.Delivered.BytesL2), "B"))
}

func (r Rates) String() string {
	return fmt.Sprintf("%s, %s L2, %s wire", rate(r.Packets, "pps"), rate(r.BitsL2, "b/s"),
		rate(r.BitsWire, "b/s"))
}

func (c Cost) String() string {
	return fmt.Sprintf("device %.1f   rx %.1f   gro %.1f   handler %.1f   tx %.1f",
		c.Device, c.RX, c.GRO, c.Handler, c.TX)
}

func (x *XDP) table(w io.Writer) {
	if x == nil {
		return
	}
	fmt.Fprintf(w, "xdp         %d frames to program %s\n", x.Packets, x.Program)
	for _, o := range x.Outcomes {
		fmt.Fprintf(w, "  %12d  %s\n", o.Packets, o.Text)
	}
	for _, note := range x.Notes {
		fmt.Fprintln(w, "            ", note)
	}
}

func (r *Report) merging(w io.Writer) {
	if !r.GRO.On {
		fmt.Fprintln(w, "gro         off")
		return
	}
	g := &r.GRO
	fmt.Fprintf(w, "gro         %.2f frames a packet: %d merged, %d by fragments, %d by chaining\n",
		g.Ratio, g.Merged, g.ByFrags, g.ByChain)
	reasons(w, "not merged", total(r.GRO.Refusals), r.GRO.Refusals)
}

func reasons(w io.Writer, title string, sum uint64, list []Reason) {
	fmt.Fprintf(w, "%-11s %d\n", title, sum)
	for _, x := range list {
		fmt.Fprintf(w, "  %12d  %s\n", x.Packets, x.Text)
	}
}

func total(list []Reason) (n uint64) {
	for _, x := range list {
		n += x.Packets
	}
	return n
}

func plural(n int) string {
	if n == 1 {
		return ""
	}
	return "s"
}

// rate writes a quantity with a decimal prefix.
func rate(v float64, unit string) string {
	for _, p := range []struct {
		factor float64
		prefix string
	}{{1e9, "G"}, {1e6, "M"}, {1e3, "k"}} {
		if v >= p.factor {
			return fmt.Sprintf("%.2f %s%s", v/p.factor, p.prefix, unit)
		}
	}
	return fmt.Sprintf("%.0f %s", v, unit)
}
