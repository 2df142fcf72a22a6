package gro

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
)

// flowOf names the innermost connection of a frame as a reader of the stream
// sees it, and gives its payload.
func flowOf(link header.LinkType, frame []byte, o *header.ParseOptions) (
	flow string, payload []byte) {
	var i header.Info
	header.Parse(link, frame, o, &i)
	if i.Version == 0 {
		return "not IP", frame
	}
	h := frame[i.Net:]
	flow = fmt.Sprintf("v%d proto %d %x", i.Version, i.Proto, h[12:20])
	if i.Version == 6 {
		flow = fmt.Sprintf("v%d proto %d %x", i.Version, i.Proto, h[8:40])
	}
	if i.L4 != 0 && int(i.L4)+4 <= len(frame) &&
		(i.Proto == header.ProtoTCP || i.Proto == header.ProtoUDP) {
		flow += fmt.Sprintf(" ports %x", frame[i.L4:i.L4+4])
	}
	return flow, frame[max(i.Payload, i.Net):]
}

// checkLaws compares what came out with what went in: every payload byte once
// and, within its flow, in order; as many segments as frames.
func checkLaws(t testing.TB, c Config, in [][]byte, out []outcome) {
	t.Helper()
	o := &header.ParseOptions{VXLAN: c.VXLAN}
	streams := func(frames [][]byte) map[string][]byte {
		flows := map[string][]byte{}
		for _, f := range frames {
			flow, payload := flowOf(c.Link, f, o)
			flows[flow] = append(flows[flow], payload...)
		}
		return flows
	}
	segments := 0
	var frames [][]byte
	for _, p := range out {
		segments += p.segs
		frames = append(frames, p.data)
	}
	if segments != len(in) {
		t.Errorf("%d segments of %d frames came out", segments, len(in))
	}
	want, got := streams(in), streams(frames)
	for flow := range want {
		if !bytes.Equal(want[flow], got[flow]) {
			t.Errorf("flow %s: other bytes, or in another order", flow)
		}
	}
	if len(want) != len(got) {
		t.Errorf("%d flows in, %d out", len(want), len(got))
	}
}

func TestLaws(t *testing.T) {
	seed := testenv.Seed(t)
	for k := range cases(2000) {
		r := testenv.Rand(seed, uint64(k))
		c := Config{Buckets: 1 << r.IntN(3), UDP: k%2 == 0, Verified: k%5 == 0}
		frames := sequence(r, 4, 40, c.UDP)
		out, _ := merge(t, c, frames...)
		checkLaws(t, c, frames, out)
		if t.Failed() {
			t.Fatalf("case %d", k)
		}
	}
}

// TestQuickAgreesWithLong: the quick ways for packets that go on decide as the
// long way does.
func TestQuickAgreesWithLong(t *testing.T) {
	seed := testenv.Seed(t)
	for k := range cases(3000) {
		r := testenv.Rand(seed, uint64(k))
		c := Config{UDP: k%2 == 0, Verified: k%3 == 0}
		frames := sequence(r, 3, 20, c.UDP)
		if k%4 == 0 {
			frames = inTunnels(r, frames, r.IntN(numTunnels), r.IntN(3) == 0)
			c.VXLAN = []uint16{header.PortVXLAN}
		}
		quick, verdicts := merge(t, c, frames...)
		long, slow := mergeLong(t, c, frames)
		if !reflect.DeepEqual(quick, long) || !reflect.DeepEqual(verdicts, slow) {
			t.Fatalf("case %d:\nquick %s\n%v\n long %s\n%v", k, text(quick), verdicts,
				text(long), slow)
		}
	}
}

// mergeLong is merge without the quick ways.
func mergeLong(t testing.TB, c Config, frames [][]byte) (out []outcome, verdicts []Verdict) {
	t.Helper()
	m, err := NewMerger(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		s := &m.seg
		s.head, s.length = f, len(f)
		s.known, s.verified, s.apart, s.segs = m.known, 0, 0, 1
		m.stats.Packets++
		verdicts = append(verdicts, m.addLong(f))
	}
	return collect(m), verdicts
}
