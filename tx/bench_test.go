package tx

import (
	"maps"
	"slices"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/internal/cpu"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// A bench is a queue whose packets go round: what comes home is posted again.
type bench struct {
	q      *Queue
	slab   *packet.Slab
	batch  *packet.Batch
	cqes   uint32
	others uint64 // ticks that the device took, and who takes packets home
}

func newBench(b testing.TB, cfg Config, mode dma.Mode, n int,
	make func(*packet.Slab, uint32)) *bench {
	dom := dma.New(dma.Config{Mode: mode})
	q, err := New(cfg, dom)
	if err != nil {
		b.Fatal(err)
	}
	slab, err := packet.NewSlab(n, mem.Auto)
	if err != nil {
		b.Fatal(err)
	}
	r := &bench{q: q, batch: packet.NewBatch(slab, n)}
	q.Serve(slab, func(home *packet.Batch) {
		start := cpu.TSC()
		for k := range home.Len() {
			r.batch.Add(home.Index(k))
		}
		r.others += cpu.TSC() - start
	})
	for range n {
		i := slab.Get()
		*slab.At(i) = packet.Packet{}
		slab.GetSmall(slab.At(i))
		make(slab, i)
		r.batch.Add(i)
	}
	r.slab = slab
	b.Cleanup(r.close)
	return r
}

func (r *bench) close() {
	r.q.Close()
	r.slab.Close()
}

// round posts the batch and reaps it; the device is done at once.
func (r *bench) round(b testing.TB) {
	for r.q.Post(r.batch); ; r.q.Post(r.batch) {
		r.q.Flush()
		start := cpu.TSC()
		r.complete()
		r.others += cpu.TSC() - start
		r.q.Reap(0)
		if r.q.InFlight() == 0 && !r.q.Stopped() {
			return
		}
	}
}

// complete completes the newest WQE, which is the one that asks.
func (r *bench) complete() {
	sq := r.q.SQ()
	at := r.q.ring.Producer() - 1
	for !newest(sq.At(at).Control(), at) {
		at--
	}
	sq.CQ.At(r.cqes).Publish(
		desc.PackOwn(uint16(at), desc.OpReq, desc.FormatPlain, sq.CQ.Lap(r.cqes)))
	r.cqes++
}

func newest(w *desc.ControlSegment, at uint32) bool {
	return w.Completes() && w.Index() == uint16(at)
}

func pages(b testing.TB, n int) []mem.Ref {
	region, err := mem.Open(mem.Config{PageBytes: 65536, Pages: n})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { region.Close() })
	refs := make([]mem.Ref, n)
	region.Alloc(refs)
	return refs
}

// small makes packets of a small head; split, of a head and a fragment.
func small(n int) func(*packet.Slab, uint32) {
	return func(s *packet.Slab, i uint32) {
		p := s.At(i)
		p.Linear, p.Len = uint32(n), uint32(n)
	}
}

func split(refs []mem.Ref, head, n int) func(*packet.Slab, uint32) {
	return func(s *packet.Slab, i uint32) {
		p := s.At(i)
		p.Linear, p.Len = uint32(head), uint32(head+n)
		*p.Shared() = packet.SharedInfo{NumFrags: 1}
		p.Shared().Frags[0] = packet.Frag{Ref: refs[int(i)%len(refs)], Len: uint32(n)}
	}
}

// large is a packet of 17 fragments for the device to cut.
func large(refs []mem.Ref) func(*packet.Slab, uint32) {
	return func(s *packet.Slab, i uint32) {
		p := s.At(i)
		head := tcp4()
		p.Linear, p.Len = uint32(copy(p.Head.Bytes(p.Data, 66), head)), uint32(len(head))
		g := packet.GSO{
			Size: 1448, HdrLen: 66, CSumStart: 34, CSumOffset: 16, Type: packet.GSOTCPv4,
		}
		sh := p.Shared()
		*sh = packet.SharedInfo{NumFrags: 17, GSO: g}
		for k := range sh.Frags {
			sh.Frags[k] = packet.Frag{Ref: refs[(int(i)+k)%len(refs)], Len: 3840}
			p.Len += 3840
		}
		p.CSumKind = packet.CSumPartial
	}
}

// tcp4 is a header of Ethernet, IPv4 and TCP with timestamps: 66 bytes.
func tcp4() []byte {
	h := make([]byte, 66)
	h[12] = 8
	h[14], h[22], h[23] = 0x45, 64, 6
	copy(h[26:], []byte{10, 0, 0, 1, 10, 0, 0, 2})
	h[46], h[47] = 0x80, 0x10
	return h
}

type benchCase struct {
	cfg  Config
	make func(*packet.Slab, uint32)
}

func benches(refs []mem.Ref) map[string]benchCase {
	inline := Copybreak{Way: Inline, Bytes: 256}
	premapped := Copybreak{Way: Premapped, Bytes: 256}
	headers := Copybreak{Way: Premapped}
	linearized := Copybreak{Way: Linearize, Bytes: 256}
	return map[string]benchCase{
		"64/mapped":              {Config{}, small(64)},
		"64/inline":              {Config{Copybreak: inline}, small(64)},
		"64/premapped":           {Config{Copybreak: premapped}, small(64)},
		"64/linearize":           {Config{Copybreak: linearized}, small(64)},
		"64/one a WQE/mapped":    {Config{Without: MultiPacket}, small(64)},
		"64/one a WQE/inline":    {Config{Without: MultiPacket, Copybreak: inline}, small(64)},
		"64/one a WQE/premapped": {Config{Without: MultiPacket, Copybreak: premapped}, small(64)},
		"66+100/mapped":          {Config{}, split(refs, 66, 100)},
		"66+100/inline":          {Config{Copybreak: inline}, split(refs, 66, 100)},
		"66+100/premapped":       {Config{Copybreak: premapped}, split(refs, 66, 100)},
		"66+100/linearize":       {Config{Copybreak: linearized}, split(refs, 66, 100)},
		"66+1448/mapped":         {Config{}, split(refs, 66, 1448)},
		"66+1448/headers":        {Config{Copybreak: headers}, split(refs, 66, 1448)},
		"64K/TSO":                {Config{Blocks: 2048}, large(refs)},
		"64K/software":           {Config{Blocks: 2048, BufBytes: 2048, Without: TSO}, large(refs)},
	}
}

// BenchmarkSend is the driver's work for a packet: Post, Flush and Reap in
// batches of 32, passthrough.
func BenchmarkSend(b *testing.B) {
	all := benches(pages(b, 64))
	for _, name := range slices.Sorted(maps.Keys(all)) {
		b.Run(name, func(b *testing.B) {
			r := newBench(b, all[name].cfg, dma.Passthrough, 32, all[name].make)
			for b.Loop() {
				r.round(b)
			}
			ns := float64(b.Elapsed().Nanoseconds()) - cpu.Nanoseconds(r.others)
			b.ReportMetric(ns/float64(b.N*32), "ns/pkt")
			if s := r.q.Stats(); s.Dropped != 0 {
				b.Errorf("%+v", s)
			}
			r.close()
		})
	}
}
