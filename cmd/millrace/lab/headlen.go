package lab

import (
	"fmt"

	"github.com/millrace-net/millrace/cmd/millrace/lab/method"
	"github.com/millrace-net/millrace/cmd/millrace/lab/page"
	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/cmd/millrace/workload"
	"github.com/millrace-net/millrace/internal/cpu"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/rx"
)

// rxHeadlen is S0 and S1: payload in the linear part of a packet forces GRO to
// chain packets instead of moving their pages.
var rxHeadlen = Experiment{
	Name:     "rx-headlen",
	Question: "What does it bring to copy the headers alone, not 256 bytes?",
	Rate:     "goodput_gbps_per_driver_core",
	Rounds:   30, // the gain is a few percent
	Metrics: []result.Metric{
		{Name: "goodput_gbps_per_driver_core", Label: "Gb/s per driver core", Digits: 1},
		{Name: "ns_per_packet", Label: "ns/packet", Digits: 1},
		{Name: "frag_list_share", Label: "frag_list share", Digits: 2},
		{Name: "head_bytes_copied_per_packet", Label: "bytes copied/head", Digits: 0},
		{Name: "len_per_truesize", Label: "len/truesize", Digits: 3},
		{Name: "device_ns_per_packet", Label: "device ns/packet", Digits: 0},
	},
	Build:    buildHeadlen,
	Claims:   headlenClaims,
	Pictures: headlenPictures,
}

// A headlenCase is one point of the matrix.
type headlenCase struct {
	mtu  int
	lro  bool
	ip   string // 4, 6 or 6in6
	read int    // bytes of the application's buffer
	core string // same or adjacent: where the application runs
}

func (c headlenCase) name() string {
	name := fmt.Sprintf("tcp/mtu=%d/lro=%s/ip=%s/read=%dKiB", c.mtu, onOff(c.lro), c.ip, c.read>>10)
	if c.core != "same" {
		name += "/core=" + c.core
	}
	return name
}

// headlenCases is the matrix; quick is what carries the claims.
func headlenCases(quick bool) (list []headlenCase) {
	for _, core := range []string{"same", "adjacent"} {
		for _, mtu := range []int{1500, 9000} {
			for _, lro := range []bool{true, false} {
				for _, ip := range []string{"4", "6", "6in6"} {
					for _, read := range []int{256 << 10, 64 << 10} {
						c := headlenCase{mtu, lro, ip, read, core}
						if !quick || c.carriesClaim() {
							list = append(list, c)
						}
					}
				}
			}
		}
	}
	return list
}

// carriesClaim: LRO with all that varies at MTU 1500, and one case each of the
// others.
func (c headlenCase) carriesClaim() bool {
	if c.core == "adjacent" || c.mtu == 9000 || !c.lro {
		return c.ip == "4" && c.read == 256<<10
	}
	return c.ip == "4" || c.read == 256<<10
}

// minApart is the number of CPUs that an application apart needs: one for it,
// one for the driver, one for everything else.
const minApart = 3

func buildHeadlen(b *Bench) error {
	memory, err := b.memory(1, headlenPages)
	if err != nil {
		return err
	}
	for _, c := range headlenCases(b.Quick) {
		if c.core == "adjacent" && b.Machine.CPUs < minApart {
			b.NotRun = append(b.NotRun, result.NotRun{Name: c.name(), Reason: fmt.Sprintf(
				"needs %d CPUs for driver, application and the rest, there are %d",
				minApart, b.Machine.CPUs)})
			continue
		}
		s := c.setup()
		s.memory, s.pages = memory, headlenPages
		b.Groups = append(b.Groups, c.group(s))
	}
	b.Notes = append(b.Notes,
		"one queue, one stream; the application copies it into a buffer of `read` bytes",
		"a packet is a frame on the wire; the driver's time is Poll, GRO and Free, "+
			"and that of the application on the same core",
		"page order: shuffled from the seed of the round, the same for both variants of a round")
	return nil
}

// headlenPages: twice the largest ring, as a queue opens by itself.
const headlenPages = 2*64*64 + 128

// What the device merges ends with a step, at the latest: so many frames become
// one packet, and GRO gets so many of those in a poll. The thread does not say
// how long sessions were. Its figures, 32.5 and 52.9 Gb/s, are 0.09 ns a byte
// apart; a chained packet that costs Linux some 500 ns more has 5 to 6 KB then:
// four segments. A poll brings no more than what GRO can hold in 17 fragments
// of 4 KiB pages: behind that it chains, in Linux too, however headers are
// copied.
var lroSessions = map[int]struct{ frames, inPoll int }{1500: {4, 6}, 9000: {2, 3}}

// lapBytes is what a lap brings.
const lapBytes = 64 << 20

func (c headlenCase) setup() setup {
	s := setup{
		apart: c.core == "adjacent", values: headlenValues, wire: c.wire,
		app: func() *app { return newServer(c.read, 0) },
	}
	s.rx.MTU, s.rx.Offloads.LRO = c.mtu, c.lro
	frames := burst
	if c.lro {
		session := lroSessions[c.mtu]
		s.nic.On |= nic.LRO
		s.nic.Burst, s.steps = session.frames, session.inPoll
		frames = session.frames * session.inPoll
	}
	s.polls = lapBytes / (frames * c.mtu)
	return s
}

func (c headlenCase) wire(seed uint64) (nic.Wire, error) {
	g := workload.Config{
		Flows: 1, Burst: burst, IPv6: c.ip != "4", MTU: c.mtu, Seed: seed,
	}
	if c.ip != "6in6" {
		return workload.NewGenerator(g, 0)
	}
	g.MTU -= outerBytes
	inner, err := workload.NewGenerator(g, 0)
	if err != nil {
		return nil, err
	}
	return &sixInSix{inner: inner}, nil
}

func (c headlenCase) group(s setup) method.Group {
	fixed, parsed := s, s
	fixed.rx.HeaderCopy, parsed.rx.HeaderCopy = rx.Fixed256, rx.Parsed
	return method.Group{
		Baseline: method.Variant{Name: "Fixed256", Measure: fixed.measure},
		Variants: []method.Variant{{Name: c.name(), Measure: parsed.measure}},
	}
}

func headlenValues(r *reading) result.Values {
	v := rates(r)
	v["goodput_gbps_per_driver_core"] = float64(r.payload) * 8 / cpu.Nanoseconds(r.driver)
	v["frag_list_share"] = share(r.chained, r.chained+r.frags)
	v["head_bytes_copied_per_packet"] = share(r.copied, r.heads)
	v["len_per_truesize"] = share(r.length, r.size)
	delete(v, "mpps")
	delete(v, "tsc_cycles_per_packet")
	return v
}

// share is 0 of nothing.
func share(part, whole uint64) float64 {
	if whole == 0 {
		return 0
	}
	return float64(part) / float64(whole)
}

const (
	headline = "tcp/mtu=1500/lro=on/ip=4/read=256KiB"
	apart    = headline + "/core=adjacent"
)

func lroCase(c *result.Case) bool { return c.Key("lro") == "on" && c.Key("ip") != "6in6" }

var headlenClaims = []Claim{
	{"LRO, MTU 1500, same core: goodput", "1.63x, 32.5 to 52.9 Gb/s", "above 1", above(headline)},
	{"LRO, MTU 1500, application on the adjacent core: goodput", "1.62x, 52.5 to 85.1 Gb/s",
		"above 1", above(apart)},
	{"LRO: share of packets merged through frag_list, before", "most", "above 0.90",
		each(lroCase, "%.2f to %.2f in %d cases",
			func(c *result.Case) float64 { return c.Baseline["frag_list_share"] },
			func(share float64) bool { return share > 0.9 })},
	{"LRO: share of packets merged through frag_list, after", "none", "0",
		each(lroCase, "%.2f to %.2f in %d cases",
			func(c *result.Case) float64 { return c.Variant["frag_list_share"] },
			func(share float64) bool { return share == 0 })},
	{"LRO: len/truesize, after over before", "better", "above 1",
		each(lroCase, "%.3fx to %.3fx in %d cases",
			func(c *result.Case) float64 {
				return c.Variant["len_per_truesize"] / c.Baseline["len_per_truesize"]
			},
			func(gain float64) bool { return gain > 1 })},
}

var headlenPictures = []page.Picture{
	{
		Title: "Goodput, headers alone against 256 bytes", Kind: page.Ratios,
		Where: func(*result.Case) bool { return true },
		See: "A dot right of the line at 1: copying the headers alone is faster; bars are " +
			"intervals of 95 %. At MTU 1500 without LRO packets are linear, nothing is copied, " +
			"and there is no difference.",
	},
	{
		Title: "Every round of the first case", Kind: page.Rounds,
		Metric: "goodput_gbps_per_driver_core", YLabel: "Gb/s per driver core",
		Where: func(c *result.Case) bool { return c.Name == headline },
		See:   "Both variants of a round lie above each other: what moves both is the machine.",
	},
}
