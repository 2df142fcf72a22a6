package tx

import (
	"bytes"
	"encoding/binary"
	"slices"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/gso"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// Who cuts what: the device what it finds its way through, software the rest.
func TestWhoCuts(t *testing.T) {
	soft := map[string]bool{"options": true, "fixed id": true, "accecn": true, "odd vxlan": true}
	sums := map[bool]desc.SendCSum{
		false: desc.SendCSumL3 | desc.SendCSumL4,
		true:  desc.SendCSumL3 | desc.SendCSumInnerL3 | desc.SendCSumInnerL4,
	}
	for _, k := range kinds() {
		r := newRig(t, Config{}, dma.Config{})
		i, _ := r.packetOf(k, 1000, 0, 3000)
		r.put(i)
		r.turn()
		s, w := r.q.Stats(), r.dev.wqes[0]
		if (s.Software.Packets == 1) != soft[k.name] || (w.op == desc.SendLarge) == soft[k.name] {
			t.Errorf("%s: %+v, %+v", k.name, w, s)
		}
		inner := k.name == "vxlan" || k.name == "gre" || k.name == "ipip"
		if !soft[k.name] && (w.sums != sums[inner] || w.mss != 1000 || w.inline != len(k.head) ||
			s.TSO.Packets+s.TSOInner.Packets != 1 || (s.TSOInner.Packets == 1) != inner ||
			s.CSumPartial+s.CSumPartialInner != 1 || (s.CSumPartialInner == 1) != inner) {
			t.Errorf("%s: %+v, %+v", k.name, w, s)
		}
		if s.Packets != 3 || s.Bytes != uint64(3000+3*len(k.head)) {
			t.Errorf("%s: %d frames, %d bytes", k.name, s.Packets, s.Bytes)
		}
		r.close()
	}
}

// A packet with more pieces than a WQE has segments, or longer than the device
// takes, is cut in software.
func TestTooMuchForTheDevice(t *testing.T) {
	for name, build := range map[string]func(*rig) (uint32, *packet.Packet){
		"a chain": func(r *rig) (uint32, *packet.Packet) {
			return r.chained(tcp4Kind(), 1000, 0, 1000, 1000, 1000)
		},
		"300 bytes of options": func(r *rig) (uint32, *packet.Packet) {
			h := ip6(0)
			hop := make([]byte, 720)
			hop[0], hop[1], hop[2], hop[3] = 6, byte(len(hop)/8-1), 1, 4
			for k := 8; k < len(hop); k += 8 {
				hop[k], hop[k+1] = 1, 6
			}
			k := stack("long", packet.GSOTCPv6, 0, eth(header.TypeIPv6), h, hop, tcp())
			return r.packetOf(k, 300, 0, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100, 100,
				100, 100, 100, 100, 100, 100)
		},
	} {
		r := newRig(t, Config{}, dma.Config{})
		i, p := build(r)
		want := r.wire(p)
		r.put(i)
		r.turn()
		r.same(name, want)
		if s := r.q.Stats(); s.Software.Packets != 1 || s.TSO.Packets != 0 {
			t.Errorf("%s: %+v", name, s)
		}
		r.close()
	}
}

// A packet of more than 64 KiB with the jumbo option, and a tag: the option is
// left out, the tag put in, and the inline length says both; the payload length
// stays 0 in what the device gets (facts/mlx5e.md 7.1; 12, bug 57).
func TestJumboWithTag(t *testing.T) {
	hop := []byte{6, 0, 0xc2, 4, 0, 1, 0x38, 0x80}
	k := stack("jumbo", packet.GSOTCPv6, 0, eth(header.TypeIPv6), ip6(0), hop, tcp())
	plain := stack("plain", packet.GSOTCPv6, 0, eth(header.TypeIPv6), ip6(6), tcp())
	for _, tag := range []uint16{0, 0x8100} {
		for _, without := range []Offload{0, TSO} {
			r := newRig(t, Config{Without: without}, dma.Config{Mode: dma.Strict})
			frags := make([]int, 17)
			for j := range frags {
				frags[j] = 4096
			}
			i, p := r.packetOf(k, 1300, 0, frags...)
			binary.BigEndian.PutUint16(p.Bytes()[18:], 0)
			p.TagType, p.TagTCI = tag, 3
			_, payload := gso.Pieces(r.slab, p, nil)
			frames := cutPlain(t, plain, payload, 1300)
			if tag != 0 {
				for j := range frames {
					frames[j] = tagged(frames[j], tag, 3)
				}
			}
			r.put(i)
			r.turn()
			r.same("jumbo", frames)
			if w := r.dev.wqes[0]; without == 0 && (w.op != desc.SendLarge ||
				w.inline != len(plain.head)+4*int(tag>>15)) {
				t.Errorf("tag %#x: %+v", tag, w)
			}
			r.close()
		}
	}
}

// cutPlain is the frames of payload behind the headers of k.
func cutPlain(t *testing.T, k kind, payload [][]byte, size int) (frames [][]byte) {
	g := k.gso
	g.Size = uint16(size)
	head := bytes.Clone(k.head)
	lengths(head, &g, 0)
	var s gso.Segmenter
	if err := s.Start(header.LinkEthernet, head, payload, g); err != nil {
		t.Fatal(err)
	}
	for s.Left() > 0 {
		b := make([]byte, s.Need())
		s.Next(b)
		frames = append(frames, b)
	}
	return frames
}

// Whether a packet shares a WQE, and what closes a session.
func TestSessions(t *testing.T) {
	r := newRig(t, Config{Copybreak: Copybreak{Way: Inline, Bytes: 100}}, dma.Config{})
	var want [][]byte
	add := func(i uint32, p *packet.Packet) {
		want = append(want, r.wire(p)...)
		r.put(i)
	}
	add(r.blank(60))                   // a session
	add(r.blank(40, 50))               // fits: all of it is copied
	add(r.blank(1000))                 // fits: a pointer
	add(r.packetOf(tcp4Kind(), 0, 30)) // another heading: a session of its own
	add(r.packetOf(tcp4Kind(), 0, 900))
	add(r.blank(60))      // the third
	add(r.blank(60, 500)) // two pieces: SEND
	i, p := r.blank(60)
	p.TagType = 0x8100
	add(i, p)        // a tag: SEND
	add(r.blank(60)) // the fourth
	r.turn()
	r.same("sessions", want)
	type short struct {
		op       desc.SendOpcode
		segments int
	}
	var got []short
	for _, w := range r.dev.wqes {
		got = append(got, short{w.op, w.segments})
	}
	wantWQEs := []short{
		{desc.SendMulti, 2 + 4 + 6 + 1}, {desc.SendMulti, 2 + 7 + 1}, {desc.SendMulti, 2 + 4},
		{desc.SendFrame, 4}, {desc.SendFrame, 2 + 4}, {desc.SendMulti, 2 + 4},
	}
	if len(got) != len(wantWQEs) {
		t.Fatalf("%+v", got)
	}
	for i := range got {
		if got[i] != wantWQEs[i] {
			t.Errorf("WQE %d: %+v, want %+v", i, got[i], wantWQEs[i])
		}
	}
	if s := r.q.Stats(); s.MPWQEBlks != 4 || s.MPWQEPkts != 7 || s.Doorbells != 1 {
		t.Errorf("%+v", s)
	}
}

// Lists hold the worst case: a ring full of packets with the most pieces, and
// one full of sessions (facts/mlx5e.md 12, bug 28).
func TestMostPieces(t *testing.T) {
	for _, cfg := range []Config{
		{Blocks: 64, Without: MultiPacket}, {Blocks: 128},
		{Blocks: 128, MinInline: desc.InlineTCPUDP},
	} {
		for _, d := range modes {
			r := newRig(t, cfg, d)
			for range 3 {
				var want [][]byte
				for range 40 {
					want = append(want, r.add(66, slices.Repeat([]int{80}, 17)...))
				}
				for range 300 {
					want = append(want, r.add(60))
				}
				r.turn()
				r.same(d.Mode.String(), want)
			}
			r.close()
		}
	}
}
