package rx

import (
	"encoding/binary"
	"testing"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// A cut is a fragment by its place in the ring.
type cut struct{ page, off, len uint32 }

// cuts are the fragments of p, pages counted from the first slot.
func cuts(q *Queue, p *packet.Packet) (got []cut) {
	s := p.Shared()
	for _, f := range s.Frags[:s.NumFrags] {
		for slot := range q.pages {
			if q.pages[slot].Page == f.Ref {
				got = append(got, cut{uint32(slot), f.Off, f.Len})
			}
		}
	}
	return got
}

func equalCuts(a, b []cut) bool {
	if len(a) != len(b) {
		return false
	}
	for i := range a {
		if a[i] != b[i] {
			return false
		}
	}
	return true
}

// stamped is a TCP frame with the timestamp option: 66 bytes of headers.
func stamped(n int) []byte {
	f := tcpFrame(max(n, 66))
	f[46] = 0x80
	return f[:n]
}

// skipTo sends pure ACKs, which hold no page, until the next frame begins at
// stride index.
func skipTo(t *testing.T, q *Queue, d *device, index uint32) {
	t.Helper()
	for d.stride != index {
		b, _ := one(t, q, d, tcpFrame(54))
		q.Free(b)
	}
}

// The vectors of facts/mlx5e.md 14 for MTU 9000.
func TestNonlinearJumbo(t *testing.T) {
	q, d := open(t, Config{MTU: 9000}, poisoned())
	before := q.dom.Stats().SyncCPUBytes
	b, p := one(t, q, d, stamped(9014))
	if p.HeadKind != packet.HeadSmall || p.Linear != 66 || p.Len != 9014 {
		t.Errorf("linear %d of %d", p.Linear, p.Len)
	}
	want := []cut{{0, 66, 4030}, {1, 0, 4096}, {2, 0, 822}}
	if got := cuts(q, p); !equalCuts(got, want) {
		t.Errorf("fragments %v, want %v", got, want)
	}
	const small = packet.SmallTruesize
	if p.Truesize-small != 4096+4096+1024 {
		t.Errorf("truesize %d above the head's, want 9216", p.Truesize-small)
	}
	for slot := range 4 {
		if got := q.pages[slot].Given; (got == 1) != (slot < 3) || got > 1 {
			t.Errorf("page %d gave %d references", slot, got)
		}
	}
	// The headers, and the payload behind them: nothing more.
	if n := q.dom.Stats().SyncCPUBytes - before; n != 256+9014-66 {
		t.Errorf("synced %d bytes, want %d", n, 256+9014-66)
	}
	q.Free(b)
}

// 28 jumbo frames fill 1008 strides; the next does not fit: a filler skips 16
// and the WQE leaves the ring.
func TestNonlinearFiller(t *testing.T) {
	q, d := open(t, Config{MTU: 9000}, nil)
	for range 29 {
		d.send(stamped(9014))
	}
	d.plain()
	b := receive(t, q)
	s := q.Stats()
	if b.Len() != 29 || s.MPWQEFillerCQEs != 1 || s.MPWQEFillerStrides != 16 ||
		s.Completions != 30 || s.Received() != 29 || !s.Balanced() {
		t.Errorf("%d packets, %+v", b.Len(), s)
	}
	if got := cuts(q, b.At(28)); got[0] != (cut{64, 66, 4030}) {
		t.Errorf("the 29th frame begins at %v, want page 0 of the second WQE", got[0])
	}
	q.Free(b)
}

// A pure ACK is all headers: no fragment, and no page gives a reference.
func TestNonlinearPureAck(t *testing.T) {
	q, d := open(t, Config{MTU: 9000}, poisoned())
	skipTo(t, q, d, 5)
	b, p := one(t, q, d, stamped(66))
	if p.Linear != 66 || p.Shared().NumFrags != 0 || q.pages[0].Given != 0 {
		t.Errorf("linear %d, %d fragments, %d references",
			p.Linear, p.Shared().NumFrags, q.pages[0].Given)
	}
	q.Free(b)
}

// A frame in the last stride of a page, by what its headers take.
func TestNonlinearPageCrossing(t *testing.T) {
	for _, c := range []struct {
		name   string
		cfg    Config
		linear uint32
		want   []cut
		refs   [2]uint32
	}{
		{"parsed", Config{MTU: 9000}, 54, []cut{{0, 3894, 202}, {1, 0, 44}}, [2]uint32{1, 1}},
		{"256 bytes", Config{MTU: 9000, HeaderCopy: Fixed256}, 256, []cut{{1, 0, 44}},
			[2]uint32{0, 1}},
	} {
		q, d := open(t, c.cfg, poisoned())
		skipTo(t, q, d, 15)
		b, p := one(t, q, d, tcpFrame(300))
		got := cuts(q, p)
		if p.Linear != c.linear || !equalCuts(got, c.want) ||
			q.pages[0].Given != c.refs[0] || q.pages[1].Given != c.refs[1] {
			t.Errorf("%s: linear %d, fragments %v, references %d and %d",
				c.name, p.Linear, got, q.pages[0].Given, q.pages[1].Given)
		}
		q.Free(b)
	}
}

// The lengths of facts/mlx5e.md 14 and 12 (bug 37: the link type decides, no
// device pointer does): what is not headers is in fragments.
func TestNonlinearHeaderLengths(t *testing.T) {
	udp := ipv4Frame(400, 17)
	binary.BigEndian.PutUint16(udp[36:], 4789)
	later := tcpFrame(400)
	binary.BigEndian.PutUint16(later[20:], 100)
	arp := tcpFrame(60)
	binary.BigEndian.PutUint16(arp[12:], 0x0806)
	for _, c := range []struct {
		name  string
		link  header.LinkType
		frame []byte
		want  uint32
	}{
		{"tcp", header.LinkEthernet, tcpFrame(400), 54},
		{"tcp with timestamps", header.LinkEthernet, stamped(400), 66},
		{"vxlan", header.LinkEthernet, udp, 42},
		{"later fragment", header.LinkEthernet, later, 34},
		{"arp", header.LinkEthernet, arp, 14},
		{"10 bytes", header.LinkEthernet, tcpFrame(60)[:10], 10},
		{"raw tcp", header.LinkRaw, tcpFrame(400)[14:], 40},
		{"opaque", header.LinkOpaque, tcpFrame(400), 0},
	} {
		q, d := open(t, Config{MTU: 9000}, poisoned())
		d.send(c.frame)
		d.last().SetFlowMeta(uint32(c.link))
		d.plain()
		b := receive(t, q)
		if b.Len() != 1 || b.At(0).Linear != c.want || string(contents(b, 0)) != string(c.frame) {
			t.Errorf("%s: %d packets, linear %d, want %d", c.name, b.Len(), b.At(0).Linear, c.want)
		}
		q.Free(b)
	}
}

// 255 headers long or more: the rest stays in the pages.
func TestNonlinearLongHeaders(t *testing.T) {
	frame := make([]byte, 600) // VLAN tags up to the limit of the parser, then nothing known
	for i := 12; i < len(frame); i += 4 {
		binary.BigEndian.PutUint16(frame[i:], 0x8100)
	}
	q, d := open(t, Config{MTU: 9000}, poisoned())
	b, p := one(t, q, d, frame)
	if p.Linear > 256 {
		t.Errorf("linear %d", p.Linear)
	}
	q.Free(b)
}

// Lengths have 32 bits on the way: the longest frame there is, at the worst
// place, in 17 fragments (facts/mlx5e.md 12, bug 55).
func TestNonlinearLongest(t *testing.T) {
	q, d := open(t, Config{MTU: 65517, Entries: 16, HeaderCopy: Fixed256}, poisoned())
	skipTo(t, q, d, 15)
	b, p := one(t, q, d, tcpFrame(65535))
	if p.Len != 65535 || p.Shared().NumFrags != 16 {
		t.Errorf("%d bytes in %d fragments", p.Len, p.Shared().NumFrags)
	}
	q.Free(b)
	q, d = open(t, Config{MTU: 65517, Entries: 16}, nil)
	skipTo(t, q, d, 15)
	b, p = one(t, q, d, tcpFrame(65535))
	if p.Shared().NumFrags != 17 {
		t.Errorf("%d fragments, want 17", p.Shared().NumFrags)
	}
	q.Free(b)
}

// A frame longer than the MTU is dropped, unless the device merged it.
func TestNonlinearOversize(t *testing.T) {
	q, d := open(t, Config{MTU: 1500, Offloads: Offloads{LRO: true}}, nil)
	d.send(tcpFrame(1519))
	d.send(tcpFrame(54 + 2*1460))
	d.last().SetLROSegs(1)
	d.send(tcpFrame(54 + 2*1460))
	d.last().SetLROSegs(2)
	d.plain()
	b := receive(t, q)
	if s := q.Stats(); b.Len() != 1 || s.OversizePktsSWDrop != 2 || !s.Balanced() {
		t.Errorf("%d packets, %+v", b.Len(), s)
	}
	q.Free(b)
}

// All strides of a page of 64 KiB can hold a packet of their own (facts/
// mlx5e.md 12, bug 24).
func TestManyReferencesOnAPage(t *testing.T) {
	q, d := open(t, Config{
		Type: Striding, MTU: 9000, Memory: Memory{PageBytes: 65536, Pages: 200},
	}, nil)
	for range 256 {
		d.send(tcpFrame(60))
	}
	d.plain()
	b := receive(t, q)
	if b.Len() != 256 || q.pages[0].Given != 256 {
		t.Fatalf("%d packets, %d references", b.Len(), q.pages[0].Given)
	}
	q.Free(b)
}
