package nic

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
)

// One frame cut at every offset, each side in memory or in the WQE, as inline
// header or inline segment: the bytes on the wire are the same.
func TestSendCutAnywhere(t *testing.T) {
	r := newSendRig(t, Config{}, 8)
	s := segment{flags: ack, stamp: 5, payload: 31}
	const sums = desc.SendCSumL3 | desc.SendCSumL4
	for _, frame := range [][]byte{tcp4(s), tcp6(s), udp4(101)} {
		spoilt := bytes.Clone(frame)
		for i := range spoilt[:14] {
			spoilt[i] ^= 0x55 // not summed
		}
		for cut := 1; cut < len(frame); cut++ {
			front, rest := frame[:cut], frame[cut:]
			for i, o := range []order{
				{segs: append(r.place(front, pageBytes), r.place(rest, pageBytes)...)},
				{header: front, segs: r.place(rest, pageBytes)},
				{header: front, segs: []seg{{inline: rest}}},
				{segs: append([]seg{{inline: front}}, r.place(rest, 7)...)},
				{segs: append(r.place(front, 13), seg{inline: rest})},
				{segs: []seg{{inline: front}, {inline: rest}}},
				{header: frame[:cut/2], segs: append(r.place(frame[cut/2:cut], pageBytes),
					seg{inline: rest})},
			} {
				o.sums = sums
				if got := r.sends(o); len(got) != 1 || !bytes.Equal(got[0], frame) {
					t.Fatalf("cut at %d, way %d: %x, want %x", cut, i, got, frame)
				}
			}
		}
		if got := r.sends(order{header: frame}); !bytes.Equal(got[0], frame) {
			t.Errorf("all inline: %x, want %x", got[0], frame)
		}
	}
}

// Random frames, tags and cuts.
func TestSendShredded(t *testing.T) {
	seed := testenv.Seed(t)
	r := newSendRig(t, Config{}, 8)
	for n := range testenv.Seeds(300) {
		rnd := testenv.Rand(seed, uint64(n))
		for range 10 {
			frame := pattern(14 + rnd.IntN(1500))
			o, want := order{}, frame
			if rnd.IntN(2) == 0 {
				o.tag, o.service = uint16(1+rnd.IntN(0xffff)), rnd.IntN(2) == 0
				typ := map[bool]uint16{false: header.TypeVLAN, true: header.TypeQinQ}[o.service]
				want = tagged(typ, o.tag, frame)
			} else if cut := rnd.IntN(100); cut < len(frame) {
				o.header, frame = frame[:cut], frame[cut:]
			}
			o.segs = r.shredded(rnd, frame, 40)
			if got := r.sends(o); len(got) != 1 || !bytes.Equal(got[0], want) {
				t.Fatalf("case %d: %.100x, want %.100x", n, got, want)
			}
		}
	}
}

// Tags of 802.1Q and 802.1ad stand behind the addresses; one that is there
// already is pushed back.
func TestInsertTag(t *testing.T) {
	r := newSendRig(t, Config{}, 8)
	frame := tagged(header.TypeVLAN, 7, udp4(100))
	for service, typ := range map[bool]uint16{false: 0x8100, true: 0x88a8} {
		got := r.sends(order{tag: 0xa123, service: service, segs: r.place(frame, 11),
			sums: desc.SendCSumL4})
		if want := tagged(typ, 0xa123, frame); !bytes.Equal(got[0], want) {
			t.Errorf("service %v: %x, want %x", service, got[0], want)
		}
	}
	if s := r.dev.Stats(); s.TxVLANInserted != 2 || s.TxChecksummed != 2 {
		t.Errorf("%+v", s)
	}
}

// Each mode wants so many bytes inline, and takes a frame with just as many
// (facts/mlx5e.md 7.1).
func TestMinInline(t *testing.T) {
	s := segment{flags: ack, stamp: 9, payload: 60}
	qinq := tagged(header.TypeQinQ, 6, tagged(header.TypeVLAN, 7, tcp4(s)))
	for _, c := range []struct {
		frame       []byte
		l2, ip, tcp int
	}{
		{tcp4(s), 18, 34, 66},
		{tcp6(s), 18, 54, 86},
		{qinq, 22, 42, 74},
		{vxlan4(tcp4(s)), 18, 34, 42},
		{ethernet(0x0806, pattern(40)), 18, 18, 18},
		{pattern(9), 9, 9, 9},
	} {
		for mode, want := range map[desc.MinInline]int{
			desc.InlineL2: c.l2, desc.InlineIP: c.ip, desc.InlineTCPUDP: c.tcp,
		} {
			for _, n := range []int{want - 1, want} {
				name := fmt.Sprintf("%d bytes, mode %d, %d inline", len(c.frame), mode, n)
				r := newSendRig(t, Config{MinInline: mode}, 8)
				o := order{header: c.frame[:n], segs: r.place(c.frame[n:], pageBytes)}
				r.write(o)
				r.ring()
				e, w, _ := r.next()
				switch {
				case n == want && w.Opcode() != desc.OpReq:
					t.Errorf("%s: %v", name, e.Syndrome())
				case n < want && (w.Opcode() != desc.OpReqErr || e.Syndrome() != desc.LocalQPOp):
					t.Errorf("%s: no error", name)
				}
			}
		}
	}
	_, err := New(Config{MinInline: desc.NumMinInline}, newSendRig(t, Config{}, 1).dom)
	if err == nil || !strings.Contains(err.Error(), "unknown MinInline 4") {
		t.Error(err)
	}
}

// A device that wants inline headers does not insert tags, and says why.
func TestMinInlineBlocksTags(t *testing.T) {
	r := newSendRig(t, Config{MinInline: desc.InlineL2}, 1)
	for _, f := range r.dev.Features() {
		if f.Feature == VLANInsert && (f.Active || !strings.Contains(f.BlockedBy, "MinInline")) {
			t.Errorf("%+v", f)
		}
	}
}

// Sending allocates nothing, whatever is sent, also with faults and while the
// cable is full.
func TestSendAllocatesNothing(t *testing.T) {
	head, payload := largeTCP(20000)
	tunnel := vxlan4(head)
	const sums = desc.SendCSumL3 | desc.SendCSumL4 | desc.SendCSumInnerL3 | desc.SendCSumInnerL4
	for name, o := range map[string]func(r *sendRig) order{
		"pointers": func(r *sendRig) order { return order{segs: r.place(udp4(700), 300)} },
		"sums": func(r *sendRig) order {
			return order{segs: r.place(vxlan4(udp4(700)), 300), sums: sums}
		},
		"inline": func(r *sendRig) order {
			return order{header: udp4(80), segs: []seg{{inline: pattern(9)}}}
		},
		"tag":   func(r *sendRig) order { return order{segs: r.place(udp4(700), 300), tag: 5} },
		"multi": func(r *sendRig) order { return order{op: desc.SendMulti, segs: many(20, 64)} },
		"large": func(r *sendRig) order {
			return order{op: desc.SendLarge, mss: 1448, sums: sums, header: head,
				segs: r.place(payload, 3000)}
		},
		"large in a tunnel": func(r *sendRig) order {
			return order{op: desc.SendLarge, mss: 1448, sums: sums, header: tunnel,
				segs: r.place(payload, 3000)}
		},
	} {
		for _, cfg := range []Config{{}, {Faults: Faults{Device: DeviceFaults{Hold: 100}}}} {
			r := newSendRig(t, cfg, 8)
			order := o(r)
			b := order.bytes(r)
			var f Frame
			n := testing.AllocsPerRun(100, func() {
				for (r.pc%64)+uint32(len(b)+63)/64 > 64 {
					r.nop()
				}
				copy(r.sq.Fragment(r.pc), b)
				c := r.sq.At(r.pc).Control()
				c.Set(uint16(r.pc), max(order.op, desc.SendFrame), rigNumber, len(b)/16)
				c.Complete()
				r.pc += uint32(len(b)+63) / 64
				r.sq.Producer.Ring(r.pc & 0xffff)
				for done := false; !done; _, _, done = r.next() {
					r.dev.Step(1)
					for r.far.Next(0, &f) {
					}
				}
			})
			if n != 0 || r.sq.State() != desc.Ready {
				t.Errorf("%s: %v allocations a WQE, state %d", name, n, r.sq.State())
			}
		}
	}
}
