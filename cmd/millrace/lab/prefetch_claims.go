package lab

import (
	"slices"
	"strings"

	"github.com/millrace-net/millrace/cmd/millrace/lab/page"
	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
)

// Cases that carry claims: those of --quick.
const (
	plain = "/compress=off/injection=off"

	flood4       = "flood/size=512/distance=4/with=sharedinfo" + plain
	flood6       = "flood/size=512/distance=6/with=sharedinfo" + plain
	flood8       = "flood/size=512/distance=8/with=sharedinfo" + plain
	floodOwn     = "flood/size=512/distance=own/with=headers" + plain
	floodPacked  = "flood/size=512/distance=4/with=sharedinfo/compress=on/injection=off"
	floodInject  = "flood/size=512/distance=4/with=sharedinfo/compress=off/injection=on"
	tcp4         = "tcp/flows=1/distance=4/with=sharedinfo" + plain
	tcpPacked    = "tcp/flows=1/distance=4/with=sharedinfo/compress=on/injection=off"
	tunnelShared = "tunnel/record=512/distance=4/with=sharedinfo" + plain
	tunnelMeta   = "tunnel/record=512/distance=4/with=meta" + plain
	xdpRead4     = "xdp-drop-read/size=512/distance=4/with=meta" + plain
	xdpUnread4   = "xdp-drop/size=512/distance=4/with=headers" + plain
	xdpUnreadAll = "xdp-drop/size=512/distance=4/with=meta" + plain
	xdpTx4       = "xdp-tx/size=512/distance=4/with=meta" + plain
)

var prefetchQuick = []string{
	flood4, flood6, flood8, floodOwn, floodPacked, floodInject, tcp4, tcpPacked,
	tunnelShared, tunnelMeta, xdpRead4, xdpUnread4, xdpUnreadAll, xdpTx4,
}

func carriesClaim(name string) bool { return slices.Contains(prefetchQuick, name) }

var prefetchClaims = []Claim{
	{"UDP 512 B flood, distance 4: packet rate", "1.36x, 2.52 to 3.44 Mpps", "at least 1.5x",
		atLeast(flood4, 1.5)},
	{"distances 4, 6 and 8: packet rates", "within 3 %", "within 5 %",
		alike(0.05, flood4, flood6, flood8)},
	{"UDP 512 B flood with compressed completions", "1.26x", "above 1", above(floodPacked)},
	{"TCP, one stream", "1.08x", "above 1", above(tcp4)},
	{"TCP, one stream, compressed completions", "1.06x", "above 1", above(tcpPacked)},
	{"TCP in a UDP tunnel: with the shared-info line against without", "1.34x and 1.04x",
		"clearly more", better(tunnelShared, tunnelMeta)},
	{"XDP drop that reads the packet: time of a packet", "32 % less, 409 to 280 cycles",
		"at least 25 % less", less(xdpRead4, 0.25)},
	{"XDP drop that does not read it", "unchanged", "no difference", unchanged(xdpUnread4)},
	{"XDP transmit: time of a packet", "33 % less, 829 to 554 cycles", "less", less(xdpTx4, 0)},
}

var prefetchPictures = []page.Picture{
	{
		Title: "Cost of a packet by distance", Kind: page.Lines, Metric: "ns_per_packet",
		X: "distance", XLabel: "distance in strides (0: no prefetch)", YLabel: "ns per packet",
		Where: prefetchLine, Series: func(c *result.Case) string { return c.Key("") },
		See: "Lower is better. The curve falls as soon as the line arrives before it is " +
			"needed, and is flat behind that: more distance neither helps nor hurts. Bars are " +
			"quartiles of the rounds.",
	},
	{
		Title: "Packet rate against distance 0", Kind: page.Ratios,
		Where: func(c *result.Case) bool { return carriesClaim(c.Name) },
		See: "A dot right of the line at 1 is faster than the baseline; bars are intervals " +
			"of 95 %. One that touches the line is no difference.",
	},
	{
		Title: "Every round of the UDP flood", Kind: page.Rounds, Metric: "ns_per_packet",
		YLabel: "ns per packet", Where: func(c *result.Case) bool { return c.Name == flood4 },
		See: "Baseline and variant of a round lie above each other. They are apart in every " +
			"round; drift of the machine moves both.",
	},
}

// prefetchLine selects what the picture of distances shows.
func prefetchLine(c *result.Case) bool {
	most := c.Key("with") == "sharedinfo" || strings.HasPrefix(c.Key(""), "xdp") &&
		c.Key("with") == "meta"
	return most && c.Key("compress") == "off" && c.Key("injection") == "off" &&
		c.Key("size") != "64"
}
