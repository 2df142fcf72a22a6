package nic

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
)

const ack, psh = header.TCPAck, header.TCPPsh

// train is n segments of a flow, each of size bytes.
func train(s segment, n int) (frames [][]byte) {
	for range n {
		frames = append(frames, tcp4(s))
		s.seq += uint32(s.payload)
	}
	return frames
}

// summary says of each packet how many segments and bytes it has.
func summary(got []received) (s string) {
	for _, p := range got {
		if !p.ByteCount().Filler() {
			s += fmt.Sprintf("%d:%d ", p.LROSegs(), p.ByteCount().Bytes())
		}
	}
	return s
}

// Three segments become one packet: the headers of the first as they were, all
// payload, and in the completion what the driver rewrites (facts/mlx5e.md 4.6).
func TestLRO(t *testing.T) {
	b := newBench(t, nonlinear9000, Config{On: LRO})
	s := segment{port: 7, seq: 0xfffff000, ack: 100, flags: ack, window: 1000, stamp: 5,
		payload: 1448}
	first := tcp4(s)
	s.seq, s.ack, s.window, s.stamp = s.seq+1448, 200, 2000, 6
	second := change(change(tcp4(s), 22, 64^60), 24, 0)
	fixIP4(second[14:34])
	s.seq, s.ack, s.window, s.flags, s.payload = s.seq+1448, 300, 3000, ack|psh, 1001
	third := tcp4(s)
	got := b.send(first, second, third)
	if len(got) != 1 {
		t.Fatalf("%s", summary(got))
	}
	p := got[0]
	want := append(append(bytes.Clone(first), second[66:]...), third[66:]...)
	wantFrames(t, got, want)
	if p.LROSegs() != 3 || p.LROMinTTL() != 60 || p.LROAck() != 300 || p.LROWindow() != 3000 ||
		!p.LROPush() || p.HdrType().L4() != desc.HdrTCPAckData || p.Verdict() != l234 {
		t.Errorf("segs %d, ttl %d, ack %d, window %d, psh %v, types %#x", p.LROSegs(),
			p.LROMinTTL(), p.LROAck(), p.LROWindow(), p.LROPush(), p.HdrType())
	}
	if sum := checksum.Sum(want[66:]); p.CheckSum() != sum {
		t.Errorf("sum %#04x, want that of the payload, %#04x", p.CheckSum(), sum)
	}
	if st := b.dev.Stats(); st.RxDelivered != 3 || st.LROPackets != 3 || st.LROAggregates != 1 {
		t.Errorf("%+v", st)
	}
}

func TestLRORules(t *testing.T) {
	base := segment{port: 7, seq: 1, flags: ack, window: 9, payload: 100}
	with := func(change func(*segment)) segment { s := base; change(&s); return s }
	two := func(change func(*segment)) [][]byte {
		s := base
		s.seq += 100
		change(&s)
		return [][]byte{tcp4(base), tcp4(s)}
	}
	for _, test := range []struct {
		name   string
		frames [][]byte
		want   string
	}{
		{"one", train(base, 1), "0:154 "},
		{"two", train(base, 2), "2:254 "},
		{"without ACK", train(with(func(s *segment) { s.flags = 0 }), 2), "2:254 "},
		{"ACK behind none", two(func(s *segment) { s.flags = 0 }), "0:154 0:154 "},
		{"gap", two(func(s *segment) { s.seq++ }), "0:154 0:154 "},
		{"sent again", two(func(s *segment) { s.seq = 1 }), "0:154 0:154 "},
		{"FIN", two(func(s *segment) { s.flags |= header.TCPFin }), "0:154 0:154 "},
		{"pure ACK", two(func(s *segment) { s.payload = 0 }), "0:154 0:54 "},
		{"stamp behind none", two(func(s *segment) { s.stamp = 7 }), "0:154 0:166 "},
		{"other flow", two(func(s *segment) { s.port = 8 }), "0:154 0:154 "},
		{"PSH ends it", append(two(func(s *segment) { s.flags |= psh }),
			tcp4(with(func(s *segment) { s.seq = 201 }))), "2:254 0:154 "},
		{"PSH at first", train(with(func(s *segment) { s.flags |= psh }), 2), "0:154 0:154 "},
		{"IPv6", [][]byte{tcp6(base), tcp6(with(func(s *segment) { s.seq = 101 }))}, "2:274 "},
		{"tagged", [][]byte{tagged(header.TypeVLAN, 5, tcp4(base)),
			tagged(header.TypeVLAN, 5, train(base, 2)[1])}, "2:254 "},
		{"other tag", [][]byte{tagged(header.TypeVLAN, 5, tcp4(base)),
			tagged(header.TypeVLAN, 6, train(base, 2)[1])}, "0:154 0:154 "},
		{"no tag", [][]byte{tagged(header.TypeVLAN, 5, tcp4(base)), train(base, 2)[1]},
			"0:154 0:154 "},
		{"bad checksum", [][]byte{tcp4(base), change(train(base, 2)[1], 90, 1)}, "0:154 0:154 "},
		{"other MAC", [][]byte{tcp4(base), change(train(base, 2)[1], 1, 1)}, "0:154 0:154 "},
		{"in a tunnel", [][]byte{vxlan4(tcp4(base)), vxlan4(train(base, 2)[1])}, "0:204 0:204 "},
		{"UDP", [][]byte{udp4(100), udp4(100)}, "0:100 0:100 "},
		{"64 KB", train(with(func(s *segment) { s.payload = 1448 }), 46), "45:65214 0:1502 "},
		{"not over 255", train(base, 300), "255:25554 45:4554 "},
	} {
		b := newBench(t, nonlinear9000, Config{On: LRO, Burst: 400})
		if got := summary(b.send(test.frames...)); got != test.want {
			t.Errorf("%s: %s, want %s", test.name, got, test.want)
		}
	}
}

// Older timestamps, and gaps in time, end a session.
func TestLROTime(t *testing.T) {
	s := segment{port: 7, flags: ack, stamp: 50, payload: 100}
	next := s
	next.seq = 100
	older, wrapped := next, next
	older.stamp = 49
	wrapped.stamp = 0x80000000
	for _, test := range []struct {
		second segment
		at     int64
		want   string
	}{
		{next, 32100 - 1, "2:266 "},
		{next, 32100, "0:166 0:166 "},
		{older, 100, "0:166 0:166 "},
		{wrapped, 100, "2:266 "},
	} {
		b := newBench(t, nonlinear9000, Config{On: LRO})
		b.wire.List = []Frame{{Data: tcp4(s), Time: 100}, {Data: tcp4(test.second), Time: test.at}}
		if got := summary(b.send()); got != test.want {
			t.Errorf("at %d, stamp %d: %s, want %s", test.at, test.second.stamp, got, test.want)
		}
	}
}

// Many flows at once: nothing is lost, the order in each flow stays, and more
// flows than sessions work as well.
func TestLROFlows(t *testing.T) {
	for _, flows := range []int{4, lroSessions, 3 * lroSessions} {
		b := newBench(t, nonlinear9000, Config{On: LRO})
		var frames [][]byte
		sent := map[uint16][]byte{}
		for i := range 600 {
			port := uint16(i*i%flows + 1)
			s := segment{port: port, seq: uint32(len(sent[port])), flags: ack, payload: 10 + i%50}
			f := tcp4(s)
			sent[port] = append(sent[port], f[54:]...)
			frames = append(frames, f)
		}
		merged := 0
		for _, p := range b.send(frames...) {
			if p.ByteCount().Filler() {
				continue
			}
			port := header.TCPAt(p.data, 34).SrcPort()
			body := p.data[54:]
			if !bytes.HasPrefix(sent[port], body) {
				t.Fatalf("flow %d: out of order", port)
			}
			sent[port] = sent[port][len(body):]
			merged += int(p.LROSegs())
		}
		for port, rest := range sent {
			if len(rest) > 0 {
				t.Errorf("flow %d: %d bytes are missing", port, len(rest))
			}
		}
		if merged == 0 {
			t.Errorf("%d flows: nothing was merged", flows)
		}
	}
}

// A merged packet without a WQE counts for all its frames.
func TestLRODropped(t *testing.T) {
	b := newBench(t, small, Config{On: LRO})
	b.rq.Modify(desc.Ready, desc.Error)
	b.send(train(segment{port: 1, flags: ack, payload: 100}, 5)...)
	if s := b.dev.Stats(); s.RxIfDownPackets != 5 {
		t.Errorf("%+v", s)
	}
}
