package nic

import (
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
)

// The device's own cost, in batches of 32 that leave where nobody listens and
// by a cable. Budget: 60 ns for 64 bytes; for LSO the copy of package gso
// (BenchmarkCut) and 10 ns a frame.
func BenchmarkSend(b *testing.B) {
	header, payload := largeTCP(65160)
	for _, test := range []struct {
		name  string
		batch int
		order func(r *sendRig) order
	}{
		{"64", 32, func(r *sendRig) order { return order{segs: r.place(udp4(64), pageBytes)} }},
		{"64/two", 32, func(r *sendRig) order { return order{segs: r.place(udp4(64), 42)} }},
		{"64/inline", 32, func(r *sendRig) order { return order{header: udp4(64)} }},
		{"64/sums", 32, func(r *sendRig) order {
			s := segment{payload: 10}
			return order{sums: desc.SendCSumL3 | desc.SendCSumL4, segs: r.place(tcp4(s), pageBytes)}
		}},
		{"1448", 32, func(r *sendRig) order { return order{segs: r.place(udp4(1448), pageBytes)} }},
		{"multi/64x20", 2, func(r *sendRig) order {
			o := order{op: desc.SendMulti}
			for range 20 {
				o.segs = append(o.segs, r.place(udp4(64), pageBytes)...)
			}
			return o
		}},
		{"lso/64K", 1, func(r *sendRig) order {
			return order{op: desc.SendLarge, mss: 1448, header: header,
				sums: desc.SendCSumL3 | desc.SendCSumL4, segs: r.place(payload, pageBytes)}
		}},
	} {
		for name, cable := range map[string]int{"": 0, "/cable": 64} {
			b.Run(test.name+name, func(b *testing.B) {
				r := newSendRigIn(b, Config{}, cable, dma.Config{})
				benchmarkSend(b, r, test.order(r), test.batch)
			})
		}
	}
}

func benchmarkSend(b *testing.B, r *sendRig, o order, batch int) {
	wqe := o.bytes(r)
	blocks := uint32(len(wqe)+63) / 64
	var f Frame
	for b.Loop() {
		for range batch {
			if r.pc%64+blocks > 64 {
				r.nop()
				continue
			}
			if r.pc < 64 { // every lap has the same WQEs
				copy(r.sq.Fragment(r.pc), wqe)
			}
			op := max(o.op, desc.SendFrame)
			r.sq.At(r.pc).Control().Set(uint16(r.pc), op, rigNumber, len(wqe)/16)
			r.pc += blocks
		}
		r.sq.Producer.Ring(r.pc & 0xffff)
		r.dev.Step(1)
		for r.far != nil && r.far.Next(0, &f) {
		}
	}
	s := r.dev.Stats()
	ns := float64(b.Elapsed().Nanoseconds())
	b.ReportMetric(ns/float64(s.TxPacketsPhy), "ns/frame")
	b.ReportMetric(ns/float64(s.TxSends+s.TxLSOPackets+s.TxMultiSessions), "ns/WQE")
}

// largeTCP is a header with timestamps, and payload behind it.
func largeTCP(n int) (header, payload []byte) {
	b := tcp4(segment{flags: ack, stamp: 9, payload: n})
	return b[:66], b[66:]
}
