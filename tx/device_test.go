package tx

import (
	"encoding/binary"
	"testing"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/gso"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// A device is the other side of a send queue, as small as can be: it reads WQEs
// straight from the ring, and says in bytes what each means.
type device struct {
	t      testing.TB
	sq     *desc.SQ
	dom    *dma.Domain
	resets uint32
	taken  uint16
	cc     uint32
	sent   [][]byte
	wqes   []seen
	nops   int
	mute   bool     // it withholds completions
	owed   []uint16 // the newest of these, if any
}

// seen is a WQE as the device found it.
type seen struct {
	at       uint16
	op       desc.SendOpcode
	segments int
	inline   int // bytes of the inline header
	mss      uint16
	sums     desc.SendCSum
	tag      bool
	asks     bool // for a completion
	pieces   int  // data segments that point
}

// step does at most n WQEs, and reports how many it did.
func (d *device) step(n int) (done int) {
	d.look()
	for ; done < n && d.sq.State() == desc.Ready; done++ {
		if d.taken == uint16(d.sq.Producer.Load()) {
			break
		}
		c := d.sq.At(uint32(d.taken)).Control()
		blocks := uint16(c.Segments()+3) / 4
		if c.Index() != d.taken || c.Queue() != d.sq.Number || blocks == 0 {
			d.t.Fatalf("WQE at %d: index %d, queue %d, %d segments",
				d.taken, c.Index(), c.Queue(), c.Segments())
		}
		if d.taken%desc.BlocksPerFragment+blocks > desc.BlocksPerFragment {
			d.t.Errorf("WQE of %d blocks at %d crosses a fragment", blocks, d.taken)
		}
		if c.Opcode() == desc.SendNop {
			d.nops++
		} else {
			d.do(c)
		}
		if c.Completes() && d.mute {
			d.owed = append(d.owed[:0], d.taken)
		} else if c.Completes() {
			d.owed = d.owed[:0]
			d.complete(d.taken, desc.OpReq)
		}
		d.taken += blocks
	}
	return done
}

// look notices that the queue was reset.
func (d *device) look() {
	if r := d.sq.Resets(); r != d.resets {
		d.resets, d.taken, d.cc, d.owed = r, 0, 0, nil
	}
}

func (d *device) complete(counter uint16, op desc.Opcode) {
	d.look()
	d.sq.CQ.At(d.cc).Publish(desc.PackOwn(counter, op, desc.FormatPlain, d.sq.CQ.Lap(d.cc)))
	d.cc++
}

// pay writes the completion that was withheld.
func (d *device) pay() {
	d.look()
	for _, counter := range d.owed {
		d.complete(counter, desc.OpReq)
	}
	d.owed = d.owed[:0]
}

// do sends the frames of a WQE.
func (d *device) do(c *desc.ControlSegment) {
	w := d.sq.Fragment(uint32(d.taken))[:16*c.Segments()]
	eth := (*desc.EthSegment)(w[16:])
	tci, service, tag := eth.Tag()
	s := seen{
		at: d.taken, op: c.Opcode(), segments: c.Segments(), inline: eth.InlineBytes(),
		mss: eth.MSS(), sums: eth.CSum(), tag: tag, asks: c.Completes(),
	}
	head := w[30 : 30+s.inline]
	var pieces [][]byte
	for at := 16 * (2 + (max(s.inline, 2)+13)/16); at < len(w); {
		b, size := d.data(w[at:], &s)
		pieces = append(pieces, b)
		at += size
	}
	d.wqes = append(d.wqes, s)
	switch s.op {
	case desc.SendMulti:
		for _, b := range pieces {
			d.frame(append([]byte{}, b...), s.sums)
		}
	case desc.SendFrame:
		frame := append([]byte{}, head...)
		for _, b := range pieces {
			frame = append(frame, b...)
		}
		if tag {
			tpid := uint16(0x8100)
			if service {
				tpid = 0x88a8
			}
			frame = tagged(frame, tpid, tci)
		}
		d.frame(frame, s.sums)
	case desc.SendLarge:
		d.large(head, pieces, s.mss)
	default:
		d.t.Fatalf("opcode %#x", s.op)
	}
}

// data reads a data segment.
func (d *device) data(w []byte, s *seen) (b []byte, size int) {
	n := binary.BigEndian.Uint32(w)
	if n&0x80000000 != 0 {
		n &= 0x3ff
		return w[4 : 4+n], int(4+n+15) &^ 15
	}
	b, ok := d.dom.Reach(binary.BigEndian.Uint64(w[8:]), n, false)
	if !ok || n == 0 {
		d.t.Fatalf("WQE at %d: %d bytes at %#x: %+v",
			d.taken, n, binary.BigEndian.Uint64(w[8:]), s)
	}
	s.pieces++
	return b, 16
}

func (d *device) large(head []byte, pieces [][]byte, mss uint16) {
	var info header.Info
	header.Parse(header.LinkEthernet, head, &header.ParseOptions{VXLAN: []uint16{4789}}, &info)
	g := packet.GSO{Size: mss, HdrLen: uint16(len(head)), CSumStart: info.L4, CSumOffset: 16}
	switch {
	case info.Proto == header.ProtoUDP:
		g.Type, g.CSumOffset = packet.GSOUDP, 6
	case info.Version == 6:
		g.Type = packet.GSOTCPv6
	default:
		g.Type = packet.GSOTCPv4
	}
	if info.Encap == header.EncapVXLAN {
		g.Flags = packet.GSOUDPTunnel
	}
	n := 0
	for _, b := range pieces {
		n += len(b)
	}
	frames := make([][]byte, (n+int(mss)-1)/int(mss))
	for i := range frames {
		frames[i] = make([]byte, len(head)+int(mss))
	}
	sizes := make([]int, len(frames))
	cut, err := gso.Cut(header.LinkEthernet, head, pieces, g, frames, sizes)
	if err != nil || cut != len(frames) {
		d.t.Fatalf("LSO of %d bytes by %d: %d frames, %v", n, mss, cut, err)
	}
	for i := range frames {
		d.sent = append(d.sent, frames[i][:sizes[i]])
	}
}

// frame fills the checksums in and sends.
func (d *device) frame(b []byte, sums desc.SendCSum) {
	if sums != 0 {
		fillSums(d.t, b, sums)
	}
	d.sent = append(d.sent, b)
}

func fillSums(t testing.TB, b []byte, sums desc.SendCSum) {
	var info header.Info
	header.Parse(header.LinkEthernet, b, &header.ParseOptions{VXLAN: []uint16{4789}}, &info)
	inner := info.Encap != header.EncapNone
	if inner != (sums&desc.SendCSumInnerL4 != 0) {
		t.Fatalf("checksums %#x of a packet in a tunnel: %v", sums, inner)
	}
	fillIPv4(b, int(info.Outer))
	fillIPv4(b, int(info.Net))
	field := b[info.L4+6:]
	if info.Proto == header.ProtoTCP {
		field = b[info.L4+16:]
	}
	field[0], field[1] = 0, 0
	body := b[info.L4:info.End]
	var pseudo uint16
	if info.Version == 4 {
		h := header.IPv4At(b, int(info.Net))
		pseudo = checksum.Pseudo4(h.Src()[:], h.Dst()[:], info.Proto, len(body))
	} else {
		h := header.IPv6At(b, int(info.Net))
		pseudo = checksum.Pseudo6(h.Src()[:], h.Dst()[:], info.Proto, len(body))
	}
	sum := ^checksum.Combine(pseudo, checksum.Sum(body), false)
	if sum == 0 {
		sum = 0xffff // for TCP, too, as package gso has it: both mean the same
	}
	binary.BigEndian.PutUint16(field, sum)
}

func fillIPv4(b []byte, at int) {
	if b[at]>>4 != 4 {
		return
	}
	h := b[at : at+int(b[at]&15)*4]
	h[10], h[11] = 0, 0
	binary.BigEndian.PutUint16(h[10:], ^checksum.Sum(h))
}

func tagged(b []byte, tpid, tci uint16) []byte {
	out := append([]byte{}, b[:12]...)
	out = binary.BigEndian.AppendUint16(out, tpid)
	out = binary.BigEndian.AppendUint16(out, tci)
	return append(out, b[12:]...)
}
