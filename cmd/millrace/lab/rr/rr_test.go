package rr

import (
	"encoding/binary"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
)

// A bench is a client and a server with nothing between them but a cable.
type bench struct {
	t      *testing.T
	client *Client
	server *Server
	end    *nic.End // that responses go into
	slab   *packet.Slab
	in     *packet.Batch
	out    *packet.Batch
	pages  *mem.Region // requests lie in
}

func open(t *testing.T, pageBytes, pages int) *mem.Region {
	t.Helper()
	r, err := mem.Open(mem.Config{PageBytes: pageBytes, Pages: pages, Kind: mem.Heap})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func newBench(t *testing.T, p Profile) *bench {
	t.Helper()
	in, out, err := nic.NewCable(64)
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{t: t, end: in, pages: open(t, 4096, 64)}
	if b.client, err = NewClient(p, out, 1); err != nil {
		t.Fatal(err)
	}
	m := Memory{Region: open(t, 4096, 100), Pages: 100, Packets: 64}
	if b.server, err = NewServer(p, m, 1); err != nil {
		t.Fatal(err)
	}
	if b.slab, err = packet.NewSlab(64, mem.Heap); err != nil {
		t.Fatal(err)
	}
	b.in, b.out = packet.NewBatch(b.slab, 64), packet.NewBatch(b.server.Slab(), 64)
	t.Cleanup(func() {
		if err := b.server.Close(); err != nil {
			t.Error(err)
		}
		b.slab.Close()
	})
	return b
}

// request takes requests as long as the client has one.
func (b *bench) request() {
	for f := (nic.Frame{}); b.client.Next(0, &f); {
		i := b.slab.Get()
		p := b.slab.At(i)
		*p = packet.Packet{
			Head: b.pages.Ref(b.in.Len()), Linear: uint32(len(f.Data)), Len: uint32(len(f.Data)),
			Room: 2048, HeadKind: packet.HeadPage,
		}
		copy(p.Bytes(), f.Data)
		b.in.Add(i)
	}
}

func (b *bench) free() {
	for i := range b.in.Len() {
		b.slab.Free(b.in.Index(i))
	}
	b.in.Reset()
}

// frame is what the device makes of packet i: head and fragment, and the
// checksum that was left to it.
func (b *bench) frame(i int) []byte {
	p := b.out.At(i)
	f := append([]byte{}, p.Bytes()...)
	f = append(f, b.out.Frag(i, 0)...)
	g := p.Shared().GSO
	if p.CSumKind != packet.CSumPartial || g.CSumStart != 34 || g.CSumOffset != 16 || g.Size != 0 {
		b.t.Errorf("packet %d: %d, %+v", i, p.CSumKind, g)
	}
	binary.BigEndian.PutUint16(f[50:], ^checksum.Sum(f[34:]))
	return f
}

func (b *bench) respond(change func([]byte) []byte) {
	for i := range b.out.Len() {
		f := b.frame(i)
		if change != nil {
			f = change(f)
		}
		if !b.end.Send(nic.Frame{Data: f}) {
			b.t.Fatal("the cable is full")
		}
	}
	b.server.Free(b.out)
}

// Requests and responses are good TCP segments, in sequence on each connection,
// round after round; one transaction a connection is outstanding.
func TestRoundTrips(t *testing.T) {
	p := Profile{200, 1000, 5}
	b := newBench(t, p)
	for round := range 40 {
		b.request()
		if b.in.Len() != p.Conns || b.client.Outstanding() != p.Conns {
			t.Fatalf("round %d: %d requests, %d outstanding", round, b.in.Len(),
				b.client.Outstanding())
		}
		for i := range b.in.Len() {
			f := b.in.Head(i)
			if what := inspect(f, StampedBytes, b.client.request[StampedBytes:]); what != "" {
				t.Fatalf("request: %s", what)
			}
			var info header.Info
			header.Parse(header.LinkEthernet, f, nil, &info)
			if header.Length(header.LinkEthernet, f) != 66 || int(info.End) != 266 {
				t.Fatalf("request of %d bytes: %+v", len(f), info)
			}
		}
		b.server.Answer(b.in, b.out)
		b.free()
		for i := range b.out.Len() {
			q := b.out.At(i)
			if q.Linear != 66 || q.Len != 1066 || b.out.NumFrags(i) != 1 ||
				b.out.At(i).Shared().Frags[0].Ref == q.Head {
				t.Fatalf("response %d: %+v", i, q)
			}
		}
		b.respond(nil)
	}
	b.client.Pause()
	b.request()
	if b.client.Err() != nil || b.server.Err() != nil || b.client.Outstanding() != 0 ||
		b.client.Taken != 200 || b.in.Len() != 0 {
		t.Errorf("%v, %v, %d outstanding, %d taken", b.client.Err(), b.server.Err(),
			b.client.Outstanding(), b.client.Taken)
	}
}

// Whatever is wrong with a response is found.
func TestClientChecks(t *testing.T) {
	resum := func(f []byte) []byte {
		h := f[:StampedBytes]
		binary.BigEndian.PutUint16(f[24:], 0)
		binary.BigEndian.PutUint16(f[24:], ^checksum.Sum(f[14:34]))
		n := len(f) - StampedBytes
		binary.BigEndian.PutUint16(f[50:], 0)
		sum := checksum.Combine(pseudo(h, n), checksum.Sum(f[34:]), false)
		binary.BigEndian.PutUint16(f[50:], ^sum)
		return f
	}
	flip := func(at int) func([]byte) []byte {
		return func(f []byte) []byte { f[at] ^= 1; return f }
	}
	for name, x := range map[string]struct {
		change func([]byte) []byte
		want   fault
	}{
		"nothing":      {nil, ""},
		"short":        {func(f []byte) []byte { return f[:len(f)-1] }, badLength},
		"empty":        {func(f []byte) []byte { return nil }, badLength},
		"address":      {flip(3), badHeader},
		"type":         {flip(12), badHeader},
		"IP sum":       {flip(24), badIPSum},
		"ID":           {flip(19), badIPSum},
		"port":         {func(f []byte) []byte { f[36] = 0xff; return resum(f) }, badHeader},
		"TCP sum":      {flip(50), badTCPSum},
		"payload":      {flip(80), badTCPSum},
		"other bytes":  {func(f []byte) []byte { f[80] ^= 1; return resum(f) }, badPayload},
		"other mark":   {func(f []byte) []byte { f[66] ^= 1; return resum(f) }, badPayload},
		"sequence":     {func(f []byte) []byte { f[41] ^= 1; return resum(f) }, badSequence},
		"acknowledged": {func(f []byte) []byte { f[45] ^= 1; return resum(f) }, badSequence},
	} {
		b := newBench(t, Profile{1, 100, 1})
		b.request()
		b.server.Answer(b.in, b.out)
		b.free()
		b.respond(x.change)
		b.client.Pause()
		b.request()
		switch err := b.client.Err(); {
		case x.want == "" && (err != nil || b.client.Taken != 1):
			t.Errorf("%s: %v", name, err)
		case x.want != "" && (err == nil || !strings.Contains(err.Error(), string(x.want))):
			t.Errorf("%s: %v, want: %s", name, err, x.want)
		}
	}
}

// A response twice is one too many.
func TestClientRefusesDuplicates(t *testing.T) {
	b := newBench(t, Profile{1, 1, 2})
	b.request()
	b.server.Answer(b.in, b.out)
	b.free()
	b.end.Send(nic.Frame{Data: b.frame(0)})
	b.respond(nil)
	b.client.Pause()
	b.request()
	if err := b.client.Err(); err == nil || !strings.Contains(err.Error(), string(unexpected)) {
		t.Errorf("%v", err)
	}
}

func TestServerChecks(t *testing.T) {
	for name, x := range map[string]struct {
		at   int
		want fault
	}{"port": {34, badHeader}, "sequence": {41, badSequence}, "acknowledged": {45, badSequence}} {
		b := newBench(t, Profile{1, 1, 1})
		b.request()
		b.in.Head(0)[x.at] ^= 1
		b.server.Answer(b.in, b.out)
		if err := b.server.Err(); err == nil || !strings.Contains(err.Error(), string(x.want)) {
			t.Errorf("%s: %v, want: %s", name, err, x.want)
		}
		b.free()
	}
	b := newBench(t, Profile{1, 1, 1})
	b.request()
	b.in.At(0).Linear--
	if b.server.Answer(b.in, b.out); b.server.Err() == nil || b.out.Len() != 0 {
		t.Error("a request that is not all in its head was answered")
	}
	b.free()
}

// A host without memory says so; what is still out at Close is counted.
func TestHostMemory(t *testing.T) {
	f, err := NewFlood(64, Memory{Region: open(t, 4096, 2), Pages: 2, Packets: 4}, 1)
	if err != nil {
		t.Fatal(err)
	}
	out := packet.NewBatch(f.Slab(), 8)
	if f.Fill(out, 5); f.Err() == nil || out.Len() != 4 {
		t.Errorf("%d packets of 4, %v", out.Len(), f.Err())
	}
	if err := f.Close(); err == nil || !strings.Contains(err.Error(), "4 packets and 1 pages") {
		t.Errorf("%v", err)
	}
	m := Memory{Region: open(t, 4096, 2), Pages: 3, Packets: 4}
	if _, err := NewFlood(64, m, 1); err == nil {
		t.Error("3 pages of 2")
	}
}

func TestRefused(t *testing.T) {
	m := Memory{Region: open(t, 4096, 1), Pages: 1, Packets: 1}
	for _, p := range []Profile{{0, 1, 1}, {1, 0, 1}, {1, 1449, 1}, {1449, 1, 1}, {1, 1, 0},
		{1, 1, maxConns + 1}} {
		if _, err := NewServer(p, m, 1); err == nil {
			t.Errorf("%s was taken", p)
		}
	}
	for _, n := range []int{54, 1515} {
		if _, err := NewFlood(n, m, 1); err == nil {
			t.Errorf("a flood of %d bytes was taken", n)
		}
	}
}

func TestProfile(t *testing.T) {
	p := Profile{200, 1000, 250}
	if p.String() != "rr1c-200x1000-250" || p.FrameBytes() != 1066 {
		t.Errorf("%s, %d bytes", p, p.FrameBytes())
	}
}
