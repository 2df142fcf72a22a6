package gro

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/millrace-net/millrace/packet"
)

// An outcome is a packet that came out, in the terms of a virtio-net header.
type outcome struct {
	data                              []byte
	flags, kind                       int
	size, segs, csumStart, csumOffset int
	gso                               packet.GSOFlags
}

func (o outcome) String() string {
	return fmt.Sprintf("[%d gso=%d/%d f=%d cs=%d+%d]", len(o.data), o.kind, o.size, o.flags,
		o.csumStart, o.csumOffset)
}

var vnetTypes = map[packet.GSOType]int{packet.GSONone: 0, packet.GSOTCPv4: 1,
	packet.GSOTCPv6: 4, packet.GSOUDP: 5}

var vnetFlags = map[packet.CSum]int{packet.CSumNone: 0, packet.CSumValid: 2,
	packet.CSumPartial: 1}

func outcomeOf(a *Aggregate) outcome {
	g := a.GSO()
	data := bytes.Join(append([][]byte{a.Header()}, a.Payload()...), nil)
	return outcome{data: data, flags: vnetFlags[a.CSum()], kind: vnetTypes[g.Type],
		size: int(g.Size), segs: max(1, int(g.Segs)), csumStart: int(g.CSumStart),
		csumOffset: int(g.CSumOffset), gso: g.Flags}
}

// merge runs frames through a Merger as one poll.
func merge(t testing.TB, c Config, frames ...[]byte) (out []outcome, verdicts []Verdict) {
	t.Helper()
	m, err := NewMerger(c)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range frames {
		verdicts = append(verdicts, m.Add(f))
	}
	return collect(m), verdicts
}

// collect is what comes out of the Merger.
func collect(m *Merger) (out []outcome) {
	for a := range m.Flush() {
		o := outcomeOf(a)
		if len(o.data) != a.Len() {
			panic("Len is not the number of bytes")
		}
		out = append(out, o)
	}
	return out
}

func text(out []outcome) string {
	var b bytes.Buffer
	for i, o := range out {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(o.String())
	}
	return b.String()
}
