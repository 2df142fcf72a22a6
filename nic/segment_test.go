package nic

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/gso"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/packet"
)

const (
	cwr, ece, fin = header.TCPCwr, header.TCPEce, header.TCPFin
	everySum      = l3 | l4 | in3 | in4
)

// lso is the order for a frame whose first n bytes are headers.
func (r *sendRig) lso(frame []byte, n int, mss uint16, size int) order {
	return order{op: desc.SendLarge, mss: mss, sums: everySum, header: frame[:n],
		segs: r.place(frame[n:], size)}
}

// The worked example of facts/mlx5e.md 14: 64306 bytes with 66 of headers, MSS
// 1460, are 44 frames of 67144 bytes in all, of 6 blocks.
func TestLSOGolden(t *testing.T) {
	r := newSendRig(t, Config{}, 64)
	s := segment{port: 9, seq: 1<<32 - 2000, stamp: 7, payload: 64240,
		flags: ack | psh | fin | ece | cwr}
	frame := tcp4(s)
	o := r.lso(frame, 66, 1460, pageBytes)
	got := r.sends(o)
	if wqe := len(o.bytes(r)); len(got) != 44 || len(o.segs) != 16 || wqe > 6*64 {
		t.Fatalf("%d frames of %d segments, %d bytes of WQE", len(got), len(o.segs), wqe)
	}
	total := 0
	for i, f := range got {
		want, n := s, min(1460, 64240-1460*i)
		total += len(f)
		want.seq += uint32(1460 * i)
		want.flags = ack | ece
		if i == 0 {
			want.flags |= cwr
		}
		if i == 43 {
			want.flags |= psh | fin
		}
		want.payload = 0
		b := append(tcp4(want), frame[66+1460*i:66+1460*i+n]...)
		binary.BigEndian.PutUint16(b[16:], uint16(len(b)-14))
		binary.BigEndian.PutUint16(b[18:], uint16(7+i))
		fixIP4(b[14:])
		segment := ip4(header.ProtoTCP, b[34:])
		if !bytes.Equal(f, append(b[:34:34], segment[20:]...)) {
			t.Fatalf("frame %d is %.100x, want %.100x", i, f, b)
		}
	}
	st := r.dev.Stats()
	if total != 67144 || st.TxLSOPackets != 1 || st.TxLSOFrames != 44 || st.TxPacketsPhy != 44 ||
		st.TxBytesPhy != 67144 || st.TxInlineBytes != 66 {
		t.Errorf("%d bytes: %+v", total, st)
	}
}

// A large packet, and how package gso is told of it.
type largePacket struct {
	frame []byte
	gso   packet.GSO
}

// largePackets are of all kinds that the device cuts, with n bytes of payload.
func largePackets(n int) map[string]largePacket {
	all := map[string]largePacket{}
	for name, f := range summedFrames(n) {
		start := f.at[l4]
		if f.at[in4] != 0 {
			start = f.at[in4]
		}
		var g packet.GSO
		info := parsed(f.frame)
		switch {
		case info.Proto == header.ProtoUDP:
			g = packet.GSO{Type: packet.GSOUDP, CSumOffset: 6}
		case info.Version == 4:
			g = packet.GSO{Type: packet.GSOTCPv4, CSumOffset: 16}
		default:
			g = packet.GSO{Type: packet.GSOTCPv6, CSumOffset: 16}
		}
		g.CSumStart, g.HdrLen = uint16(start)-g.CSumOffset, uint16(len(f.frame)-n)
		if info.Encap == header.EncapVXLAN {
			g.Flags = packet.GSOUDPTunnel
		}
		if g.Type != packet.GSOUDP {
			f.frame[g.CSumStart+13] = ack | psh | fin | cwr
		}
		all[name] = largePacket{f.frame, g}
	}
	return all
}

// want is what package gso makes of it.
func (p *largePacket) want(t testing.TB, mss uint16) [][]byte {
	t.Helper()
	p.gso.Size = mss
	n := len(p.frame)/int(mss) + 2
	bufs, sizes := make([][]byte, n), make([]int, n)
	for i := range bufs {
		bufs[i] = make([]byte, int(p.gso.HdrLen)+int(mss))
	}
	n, err := gso.Cut(header.LinkEthernet, p.frame, nil, p.gso, bufs, sizes)
	if err != nil {
		t.Fatal(err)
	}
	for i := range n {
		bufs[i] = bufs[i][:sizes[i]]
	}
	return bufs[:n]
}

// All kinds of packets come out as package gso cuts them, wherever their bytes
// lie, and all their checksums verify.
func TestLSO(t *testing.T) {
	seed := testenv.Seed(t)
	r := newSendRig(t, Config{}, 128)
	for n := range testenv.Seeds(60) {
		rnd := testenv.Rand(seed, uint64(n))
		size := 1 + rnd.IntN(20000)
		mss := uint16(max(size/100, 1+rnd.IntN(3000)))
		for name, p := range largePackets(size) {
			if p.gso.Type == packet.GSOUDP && size > 128*int(mss) {
				continue
			}
			o := order{op: desc.SendLarge, mss: mss, sums: everySum, header: p.frame[:p.gso.HdrLen],
				segs: r.shredded(rnd, p.frame[p.gso.HdrLen:], 25)}
			got := r.sends(o)
			sameFrames(t, fmt.Sprintf("case %d, %s", n, name), got, p.want(t, mss))
			for i := range got {
				if !goodFrame(got[i]) {
					t.Fatalf("case %d, %s: bad checksum in frame %d", n, name, i)
				}
			}
		}
	}
}

func parsed(b []byte) (info header.Info) {
	o := header.ParseOptions{VXLAN: []uint16{header.PortVXLAN}}
	header.Parse(header.LinkEthernet, b, &o, &info)
	return info
}

func goodFrame(b []byte) bool {
	l := label{l2: 14, info: parsed(b)}
	l.verify(b)
	return l.verdict == desc.L2OK|desc.L3OK|desc.L4OK
}

// The cable may be full in front of any frame, and the driver may change the
// WQE meanwhile: no frame is lost or sent twice.
func TestLSOWaits(t *testing.T) {
	seed := testenv.Seed(t)
	r := newSendRig(t, Config{}, 7)
	for n := range testenv.Seeds(30) {
		rnd := testenv.Rand(seed, uint64(n))
		for name, p := range largePackets(5000) {
			mss := uint16(100 + rnd.IntN(900))
			o := order{op: desc.SendLarge, mss: mss, sums: everySum, header: p.frame[:p.gso.HdrLen],
				segs: r.shredded(rnd, p.frame[p.gso.HdrLen:], 25)}
			pc := r.pc
			c := r.write(o)
			index := c.Index()
			r.ring()
			for ; pc != r.pc; pc++ {
				*r.sq.At(pc) = desc.SendBlock{}
			}
			sameFrames(t, fmt.Sprintf("case %d, %s", n, name), r.drip(rnd), p.want(t, mss))
			if _, w, ok := r.next(); !ok || w.Opcode() != desc.OpReq || w.WQECounter() != index {
				t.Fatalf("case %d, %s: not completed", n, name)
			}
		}
	}
}

// drip takes a few frames from the far end a Step, until no WQE waits.
func (r *sendRig) drip(rnd *rand.Rand) (got [][]byte) {
	var f Frame
	for s := r.dev.Stats(); s.TxPending > 0; s = r.dev.Stats() {
		for range rnd.IntN(4) {
			if r.far.Next(0, &f) {
				got = append(got, bytes.Clone(f.Data))
			}
		}
		r.step()
	}
	return append(got, r.take()...)
}

// Memory that is unmapped while the packet waits ends it: in strict mode the
// device may not have kept the address.
func TestLSOUnmapped(t *testing.T) {
	for _, mode := range []dma.Mode{dma.Bounce, dma.Strict} {
		r := newSendRigIn(t, Config{}, 3, dma.Config{Mode: mode})
		o := r.lso(tcp4(segment{payload: 5000}), 54, 1000, pageBytes)
		r.write(o)
		r.ring()
		if n := len(r.take()); n != 3 {
			t.Fatalf("%d frames, want 3", n)
		}
		r.dom.Unmap(r.iova[0])
		r.step()
		r.arrive()
		e, w, ok := r.next()
		if !ok || w.Opcode() != desc.OpReqErr || e.Syndrome() != desc.LocalProt {
			t.Errorf("mode %v: no error", mode)
		}
		if s := r.dev.Stats(); s.TxLSOFrames != 3 || s.TxLSOPackets != 0 || s.TxErrors != 1 {
			t.Errorf("%+v", s)
		}
	}
}

// A packet that fits a frame is one, also without payload.
func TestLSOSmall(t *testing.T) {
	r := newSendRig(t, Config{}, 8)
	for _, n := range []int{0, 1, 999, 1000} {
		frame := tcp4(segment{flags: ack, payload: n})
		got := r.sends(r.lso(frame, 54, 1000, pageBytes))
		if len(got) != 1 || !bytes.Equal(got[0], frame) {
			t.Errorf("%d bytes: %x, want %x", n, got, frame)
		}
	}
}

// Longer than any IP packet, as BIG TCP has it; and too long for that.
func TestLSOBig(t *testing.T) {
	r := newSendRig(t, Config{}, 200)
	o := r.lso(tcp6(segment{flags: ack}), 74, 3000, pageBytes)
	o.segs = many(54, pageBytes) // 221 KB
	if got := r.sends(o); len(got) != 74 || !goodFrame(got[73]) {
		t.Errorf("%d frames", len(got))
	}
}
