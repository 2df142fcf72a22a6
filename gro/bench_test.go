package gro

import (
	"fmt"
	"testing"
	"time"

	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// A load is full-size TCP segments of some flows, one of each in turn.
type load struct{ flows, packets int }

var loads = []load{{1, 32}, {8, 128}, {32, 128}}

func (l load) String() string { return fmt.Sprintf("flows=%d/packets=%d", l.flows, l.packets) }

func (l load) frames() (frames [][]byte) {
	const size = 1448
	stamps := []byte{1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2}
	for i := range l.packets {
		k := i / l.flows
		frames = append(frames, tcp4(ipHdr{id: k}, tcpSeg{seq: k * size, n: size,
			src: 1000 + i%l.flows, options: stamps}))
	}
	return frames
}

func BenchmarkMerger(b *testing.B) {
	for _, verified := range []bool{true, false} {
		for _, l := range loads {
			b.Run(fmt.Sprintf("verified=%v/%v", verified, l), func(b *testing.B) {
				m, err := NewMerger(Config{Verified: verified})
				if err != nil {
					b.Fatal(err)
				}
				frames, out := l.frames(), 0
				for b.Loop() {
					for _, f := range frames {
						m.Add(f)
					}
					for range m.Flush() {
						out++
					}
				}
				if out != b.N*l.flows {
					b.Fatalf("%d packets out of %d polls", out, b.N)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*l.packets), "ns/pkt")
			})
		}
	}
}

// A belt puts frames into pages once, and builds packets around them as a
// linear receive queue does.
type belt struct {
	slab    *packet.Slab
	region  *mem.Region
	frames  [][]byte
	refs    []mem.Ref
	in, out *packet.Batch
}

func newBelt(b testing.TB, frames [][]byte, pageBytes int) *belt {
	b.Helper()
	n := len(frames)
	slab, err := packet.NewSlab(4*n, mem.Heap)
	if err != nil {
		b.Fatal(err)
	}
	region, err := mem.Open(mem.Config{PageBytes: pageBytes, Pages: n, Kind: mem.Heap})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { slab.Close(); region.Close() })
	x := &belt{slab: slab, region: region, frames: frames, refs: make([]mem.Ref, n),
		in: packet.NewBatch(slab, n), out: packet.NewBatch(slab, n)}
	region.Alloc(x.refs)
	return x
}

// linear builds a packet around frame k.
func (x *belt) linear(k int, kind packet.CSum) uint32 {
	f, i := x.frames[k], x.slab.Get()
	p := x.slab.At(i)
	*p = packet.Packet{Head: x.refs[k], Data: packet.HeadRoom, Linear: uint32(len(f)),
		Len: uint32(len(f)), HeadKind: packet.HeadPage, CSumKind: kind}
	p.Room = (p.Data + p.Linear + 63) &^ 63
	p.Truesize = p.Room + packet.SharedBytes + packet.RecordBytes
	s := p.Shared()
	s.NumFrags, s.Chain, s.GSO = 0, 0, packet.GSO{}
	return i
}

// fill copies n bytes of each frame into its page.
func (x *belt) fill(n int) {
	for k, f := range x.frames {
		f = f[:min(n, len(f))]
		copy(x.refs[k].Bytes(packet.HeadRoom, uint32(len(f))), f)
	}
}

// free gives back every packet of out.
func (x *belt) free(out *packet.Batch) {
	for k := range out.Len() {
		i := out.Index(k)
		for c := x.slab.At(i).Shared().Chain; c != 0; {
			n := x.slab.At(c).Next
			x.slab.Free(c)
			c = n
		}
		x.slab.Free(i)
	}
	out.Reset()
}

// BenchmarkTable times Receive and Flush alone: several polls at once, because
// the clock takes as long as a packet or two.
func BenchmarkTable(b *testing.B) {
	for _, l := range loads {
		b.Run(fmt.Sprintf("linear/%v", l), func(b *testing.B) {
			const polls = 4
			var frames [][]byte
			for range polls {
				frames = append(frames, l.frames()...)
			}
			x := newBelt(b, frames, 2048)
			t, err := New(Config{}, x.slab)
			if err != nil {
				b.Fatal(err)
			}
			x.fill(2048)
			var in [polls]*packet.Batch
			for k := range in {
				in[k] = packet.NewBatch(x.slab, l.packets)
			}
			var spent time.Duration
			for b.Loop() {
				for k := range frames {
					in[k/l.packets].Add(x.linear(k, packet.CSumValid))
				}
				start := time.Now()
				for _, in := range in {
					t.Receive(in, x.out)
					t.Flush(x.out)
				}
				spent += time.Since(start)
				x.fill(128) // the headers were rewritten
				x.free(x.out)
			}
			b.ReportMetric(float64(spent.Nanoseconds())/float64(b.N*len(frames)), "ns/pkt")
			b.ReportMetric(0, "ns/op")
		})
	}
}
