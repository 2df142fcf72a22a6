package nic

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
)

// Whatever the bytes are, they arrive as they were, and the sum in the
// completion is that of the bytes behind the link header.
func FuzzFrame(f *testing.F) {
	s := segment{flags: ack, payload: 30, stamp: 9}
	for _, frame := range [][]byte{tcp4(s), tcp6(s), udp4(60), vxlan4(tcp4(s)), optioned(),
		gre4(true, ip4(header.ProtoTCP, tcp(s))), tagged(header.TypeVLAN, 7, tcp4(s))} {
		f.Add(byte(header.LinkEthernet), frame)
		f.Add(byte(header.LinkRaw), frame[14:])
	}
	f.Fuzz(func(t *testing.T, link byte, frame []byte) {
		if len(frame) == 0 || len(frame) > 4096 {
			return
		}
		for _, cfg := range []Config{{}, {On: LRO}} {
			b := newBench(t, small, cfg)
			b.wire.List = []Frame{{Data: frame, Link: header.LinkType(link)}}
			got := b.send()
			if len(got) != 1 {
				t.Fatalf("%d packets", len(got))
			}
			p, want, l2 := got[0], frame, min(len(frame), header.LinkType(link).HeaderLen())
			if p.HdrType().VLANStripped() {
				want = append(bytes.Clone(frame[:12]), frame[16:]...)
			}
			wantFrames(t, got, want)
			if sum := checksum.Sum(want[l2:]); p.CheckSum() != sum {
				t.Errorf("sum %#04x, want %#04x", p.CheckSum(), sum)
			}
		}
	})
}

// Whatever a driver writes into the shared memory, the device does not leave
// its domain, keeps its books, and works again after a reset.
func FuzzDriver(f *testing.F) {
	f.Add([]byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0xff, 0xff, 1, 0, 0})
	f.Add(bytes.Repeat([]byte{3, 0xff, 0xff, 0xff, 4, 0, 1, 0}, 8))
	f.Fuzz(func(t *testing.T, script []byte) {
		for _, l := range []layout{small, cyclic2, compressing(desc.CompressBasic, 0, 3)} {
			runScript(t, l, script)
		}
	})
}

func runScript(t *testing.T, l layout, script []byte) {
	b := newBench(t, l, Config{On: Compress})
	for len(script) >= 4 {
		op, at, v := script[0], script[1], binary.BigEndian.Uint16(script[2:])
		script = script[4:]
		b.meddle(op, int(at), v)
		b.dev.Step(0)
		b.balance()
	}
	b.rq.Modify(desc.Ready, desc.Error)
	b.rq.Modify(desc.Error, desc.Reset)
	b.rq.Reinit()
	b.translate(l)
	b.start()
	b.wire.List = nil
	b.wire.Rewind()
	wantFrames(t, b.send(udp4(300)), udp4(300))
}

// meddle changes one thing that driver and device share.
func (b *bench) meddle(op byte, at int, v uint16) {
	rq := b.rq
	switch op % 8 {
	case 0:
		rq.Producer.Ring(uint32(v))
	case 1:
		rq.CQ.Consumer.Ring(uint32(v))
	case 2:
		if len(rq.MTT) > 0 {
			rq.MTT[at%len(rq.MTT)] = uint64(v) << (v % 48)
		}
	case 3:
		if len(rq.List) > 0 {
			rq.List[at%len(rq.List)].SetNext(v)
		}
	case 4:
		if len(rq.List) > 0 {
			rq.List[at%len(rq.List)].Data().Set(uint32(v), 1, uint64(v)<<(at%64))
		}
	case 5:
		if len(rq.Segments) > 0 {
			rq.Segments[at%len(rq.Segments)].Set(uint32(v)<<(at%32), uint32(v), uint64(v)<<(at%60))
		}
	case 6:
		b.rq.Modify(desc.Ready, desc.Error)
		b.rq.Modify(desc.Error, desc.Reset)
		b.rq.Modify(desc.Reset, desc.Ready)
	case 7:
		rq.CQ.Entries[at%len(rq.CQ.Entries)][v%64] = byte(v >> 8)
	}
	b.wire.List = append(b.wire.List, Frame{Data: udp4(64 + int(v)%3000)})
}
