package gro

import (
	"slices"
	"testing"

	"github.com/millrace-net/millrace/header"
)

// The cases of the kernel's GRO selftest (facts/gro.md C.2), with what Linux
// 6.18 does with them. Its packets carry 100 bytes, TTL 8, DF and a fixed ID 0.

// A layout puts the segments of a selftest case into frames.
type layout struct {
	name     string
	headers  int // bytes of network and transport headers
	v6       bool
	tunneled bool
}

var layouts = []layout{{"ipv4", 40, false, false}, {"ipv6", 60, true, false},
	{"ipip", 60, false, true}, {"ip6ip6", 100, true, true}}

func (l layout) frame(h ipHdr, t tcpSeg) []byte {
	h.v6, h.ttl = l.v6, max(h.ttl, 8)
	t.seq += 100
	f := tcp4(h, t)
	if l.tunneled {
		f = ipip(ipHdr{v6: l.v6, ttl: 8}, f)
	}
	return f
}

// A probe is a packet of a case; poll is the poll it arrives in.
type probe struct {
	ip   ipHdr
	tcp  tcpSeg
	poll int
}

func at(seqs ...int) (list []probe) {
	for _, s := range seqs {
		list = append(list, probe{tcp: seg(s, 100)})
	}
	return list
}

func (p probe) size(n int) probe             { p.tcp.n = n; return p }
func (p probe) flags(f uint16) probe         { p.tcp.flags = f; return p }
func (p probe) options(o []byte) probe       { p.tcp.options = o; return p }
func (p probe) later() probe                 { p.poll = 1; return p }
func (p probe) header(h ipHdr) probe         { p.ip = h; return p }
func (p probe) change(f func(*tcpSeg)) probe { f(&p.tcp); return p }

func stamp(order int, ts byte) []byte {
	opt := []byte{8, 10, 0, 0, 0, ts, 0, 0, 0, 0}
	switch order {
	case 1:
		return slices.Concat([]byte{1}, opt, []byte{1})
	case 2:
		return slices.Concat(opt, []byte{1, 1})
	}
	return slices.Concat([]byte{1, 1}, opt)
}

const (
	only4 = 1 << iota
	only6
)

type selftest struct {
	name   string
	only   int
	probes []probe
	want   []int
}

func seqProbe(s int) probe { return at(s)[0] }

var selftests = []selftest{
	{"data_same", 0, at(0, 100), []int{200}},
	{"data_lrg_sml", 0, []probe{seqProbe(0), seqProbe(100).size(50)}, []int{150}},
	{"data_lrg_1byte", 0, []probe{seqProbe(0), seqProbe(100).size(1)}, []int{101}},
	{"data_sml_lrg", 0, []probe{seqProbe(0).size(50), seqProbe(50)}, []int{50, 100}},
	{"data_burst", 0, []probe{seqProbe(0), seqProbe(100), seqProbe(200).later(),
		seqProbe(300).later()}, []int{200, 200}},
	{"ack", 0, []probe{seqProbe(0).size(0), seqProbe(0).size(0),
		seqProbe(0).size(0).change(func(t *tcpSeg) { t.ack++ })}, []int{0, 0, 0}},
	{"flags_psh", 0, []probe{seqProbe(0), seqProbe(100), seqProbe(200).flags(ack | psh),
		seqProbe(300), seqProbe(400)}, []int{300, 200}},
	{"flags_syn", 0, flagTest(header.TCPSyn), []int{200, 0, 200}},
	{"flags_rst", 0, flagTest(header.TCPRst), []int{200, 0, 200}},
	{"flags_urg", 0, flagTest(header.TCPUrg), []int{200, 0, 200}},
	{"flags_cwr", 0, []probe{seqProbe(0), seqProbe(100).flags(ack | cwr),
		seqProbe(200).flags(ack | cwr), seqProbe(300), seqProbe(400)}, []int{100, 100, 100, 200}},
	{"tcp_csum", 0, []probe{seqProbe(0),
		seqProbe(100).change(func(t *tcpSeg) { t.bad = true })}, []int{100, 100}},
	{"tcp_seq", 0, at(0, 101), []int{100, 100}},
	{"tcp_ts", 0, []probe{seqProbe(0).options(stamp(0, 0)), seqProbe(100).options(stamp(0, 0)),
		seqProbe(200).options(stamp(0, 100)), seqProbe(300).options(stamp(1, 100)),
		seqProbe(400).options(stamp(2, 100))}, []int{200, 100, 100, 100}},
	{"tcp_opt", 0, []probe{seqProbe(0).options(stamp(0, 0)), seqProbe(100).options(stamp(0, 0)),
		seqProbe(200).options([]byte{1, 3, 3, 0})}, []int{200, 100}},
	{"ip_ecn", 0, []probe{seqProbe(0), seqProbe(100).header(ipHdr{tos: 2})}, []int{100, 100}},
	{"ip_tos", 0, []probe{seqProbe(0), seqProbe(100).header(ipHdr{tos: 0xf})}, []int{100, 100}},
	{"ip_csum", only4, []probe{seqProbe(0), seqProbe(100).header(ipHdr{badSum: true}),
		seqProbe(200)}, []int{100, 100, 100}},
	{"ip_ttl", only4, []probe{seqProbe(0), seqProbe(100).header(ipHdr{ttl: 9})}, []int{100, 100}},
	{"ip_opt", only4, []probe{seqProbe(0), seqProbe(100).header(ipHdr{options: make([]byte, 40)}),
		seqProbe(200)}, []int{100, 100, 100}},
	{"ip_frag4", only4, []probe{seqProbe(0), seqProbe(100).header(ipHdr{fragment: 0x2000})},
		[]int{100, 100}},
	{"ip_id_df1_inc", only4, ids(false, 8, 9), []int{200}},
	{"ip_id_df1_fixed", only4, ids(false, 8, 8), []int{200}},
	{"ip_id_df0_inc", only4, ids(true, 8, 9), []int{200}},
	{"ip_id_df0_fixed", only4, ids(true, 8, 8), []int{200}},
	{"ip_id_df1_inc_fixed", only4, ids(false, 8, 9, 9), []int{200, 100}},
	{"ip_id_df1_fixed_inc", only4, ids(false, 8, 8, 9), []int{200, 100}},
	{"ip_frag6", only6, []probe{seqProbe(0), seqProbe(100),
		seqProbe(200).header(ipHdr{next: 44, ext: make([]byte, 7)}).later(),
		seqProbe(300).later()}, []int{200, 100, 100}},
	{"ip_v6ext_same", only6, extended6(0, 0), []int{200}},
	{"ip_v6ext_diff", only6, extended6(0, 0x11), []int{100, 100}},
	{"single", 0, at(0), []int{100}},
}

func flagTest(flag uint16) []probe {
	return []probe{seqProbe(0), seqProbe(100), seqProbe(0).size(0).flags(ack | flag),
		seqProbe(300), seqProbe(400)}
}

func ids(df0 bool, list ...int) (probes []probe) {
	for k, id := range list {
		probes = append(probes, seqProbe(100*k).header(ipHdr{id: id, df0: df0}))
	}
	return probes
}

func extended6(fill ...byte) (probes []probe) {
	for k, f := range fill {
		ext := []byte{0, f, f, f, f, f, f}
		probes = append(probes, seqProbe(100*k).header(ipHdr{next: 60, ext: ext}))
	}
	return probes
}

// payloads runs the probes and returns the payload lengths that come out.
func (l layout) payloads(t *testing.T, probes []probe) (got []int) {
	t.Helper()
	var polls [2][][]byte
	for _, p := range probes {
		polls[p.poll] = append(polls[p.poll], l.frame(p.ip, p.tcp))
	}
	for _, frames := range polls {
		out, _ := merge(t, Config{}, frames...)
		checkLaws(t, Config{}, frames, out)
		for _, o := range out {
			var i header.Info
			header.Parse(header.LinkEthernet, o.data, nil, &i)
			got = append(got, len(o.data)-int(i.Payload))
		}
	}
	return got
}

func TestSelftest(t *testing.T) {
	for _, l := range layouts {
		for _, c := range selftests {
			if c.only == only4 && l.v6 || c.only == only6 && !l.v6 {
				continue
			}
			if got := l.payloads(t, c.probes); !slices.Equal(got, c.want) {
				t.Errorf("%s %s: %v, want %v", l.name, c.name, got, c.want)
			}
		}
	}
}

// TestSelftestLarge: an aggregate ends at 65535 bytes from the network header.
func TestSelftestLarge(t *testing.T) {
	for _, l := range layouts {
		mss, most := 4096-l.headers, 65535-l.headers
		n, rest := most/mss, most%mss
		probes := func(rest int) (list []probe) {
			for k := range n {
				list = append(list, seqProbe(k*mss).size(mss))
			}
			return append(list, seqProbe(n*mss).size(rest), seqProbe((n+1)*mss).size(rest))
		}
		if got := l.payloads(t, probes(rest)); !slices.Equal(got, []int{most, rest}) {
			t.Errorf("%s large_max: %v, want %d and %d", l.name, got, most, rest)
		}
		want := []int{most - rest, rest + 1, rest + 1}
		if got := l.payloads(t, probes(rest+1)); !slices.Equal(got, want) {
			t.Errorf("%s large_rem: %v, want %v", l.name, got, want)
		}
	}
}

// TestSelftestCapacity: hundreds of flows at once are all merged, in order.
func TestSelftestCapacity(t *testing.T) {
	for _, l := range layouts {
		for _, flows := range []int{4, 32, 500, 512} {
			var probes []probe
			for second := range 2 {
				for k := range flows {
					p := seqProbe(200 * second).size(200)
					p.tcp.src = 1500 + k
					if second == 1 {
						p = p.flags(ack | psh)
					}
					probes = append(probes, p)
				}
			}
			want := slices.Repeat([]int{400}, flows)
			if got := l.payloads(t, probes); !slices.Equal(got, want) {
				t.Errorf("%s capacity %d: %d packets came out", l.name, flows, len(got))
			}
		}
	}
}
