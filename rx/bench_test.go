package rx

import (
	"slices"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/internal/cpu"
	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/xdp"
)

// A drill is a queue and a device that writes completions but, after the first
// lap, no frames: its own time is not counted, only that of Poll, the handler
// and Free.
type drill struct {
	q     *Queue
	d     *device
	b     *packet.Batch
	frame []byte
	ticks uint64
	pkts  int
	costs []float64 // ns per packet, a sample for every sampleSize packets
	sum   byte
}

// sampleSize is two rings of the default queue, so that every sample has its
// share of refills.
const sampleSize = 2048

func newDrill(t testing.TB, cfg Config, frame []byte) *drill {
	q, d := open(t, cfg, nil)
	return &drill{q: q, d: d, b: packet.NewBatch(q.Slab(), 64), frame: frame}
}

// round sends n frames and times what the driver does with them. The handler
// touches the first byte of each.
func (x *drill) round(n int) {
	for range n {
		x.d.send(x.frame)
		describeTCP(x.d.last())
	}
	x.d.flush()
	start, pkts := cpu.TSC(), 0
	for pkts < n {
		dropped := x.q.count.xdpDrop
		x.q.Poll(x.b, n)
		pkts += x.b.Len() + int(x.q.count.xdpDrop-dropped)
		for i := range x.b.Len() {
			x.sum += x.b.Head(i)[0]
		}
		x.q.Free(x.b)
	}
	x.ticks += cpu.TSC() - start
	if x.pkts += pkts; x.pkts >= sampleSize {
		x.costs = append(x.costs, cpu.Nanoseconds(x.ticks)/float64(x.pkts))
		x.ticks, x.pkts = 0, 0
	}
}

func describeTCP(c *desc.CQE) {
	c.SetHdrType(desc.HdrIPv4 | desc.HdrTCPAckData)
	c.SetHashType(desc.HashIPv4 | desc.HashTCP)
	c.SetHash(1)
	c.SetVerdict(desc.L2OK | desc.L3OK | desc.L4OK)
}

func benchmark(b *testing.B, cfg Config, frame []byte) {
	for _, n := range []int{1, 8, 32, 64} {
		b.Run(batchName(n), func(b *testing.B) {
			measure(b, newDrill(b, cfg, frame), n)
		})
	}
}

// measure reports the median sample of rounds of n packets, once the ring has
// been gone round. An op is one sample.
func measure(b *testing.B, x *drill, n int) {
	sample := func() {
		for range sampleSize / n {
			x.round(n)
		}
	}
	for range 4 {
		sample()
	}
	x.costs = x.costs[:0]
	for b.Loop() {
		sample()
	}
	slices.Sort(x.costs)
	b.ReportMetric(x.costs[len(x.costs)/2], "ns/pkt")
	b.ReportMetric(0, "ns/op")
}

func batchName(n int) string { return map[int]string{1: "1", 8: "8", 32: "32", 64: "64"}[n] }

func BenchmarkLinear512(b *testing.B)     { benchmark(b, Config{}, tcpFrame(512)) }
func BenchmarkNonlinear9000(b *testing.B) { benchmark(b, Config{MTU: 9000}, tcpFrame(9014)) }

// shuffled gives the pages of a region in the order of a pool that has been in
// use. In the order of addresses frames 2048 bytes apart meet in the same banks of
// memory.
type shuffled struct {
	*mem.Region
	free []mem.Ref
}

func newShuffled(b *testing.B, pages int) *shuffled {
	r, err := mem.Open(mem.Config{Pages: pages})
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { r.Close() })
	s := &shuffled{r, make([]mem.Ref, pages)}
	r.Alloc(s.free)
	testenv.Rand(1, 0).Shuffle(pages, func(i, j int) {
		s.free[i], s.free[j] = s.free[j], s.free[i]
	})
	return s
}

func (s *shuffled) Alloc(dst []mem.Ref) int {
	n := copy(dst, s.free)
	s.free = s.free[n:]
	return n
}

// Past the caches, as on a machine without cache injection: the first touch of
// a frame is a miss to memory, and prefetching strides ahead hides it.
func BenchmarkLinear512Cold(b *testing.B) {
	for _, c := range []struct {
		name string
		p    Prefetch
	}{
		{"off", Prefetch{Distance: -1}},
		{"4", Prefetch{}},
		{"8", Prefetch{Distance: 8}},
		{"4,noshared", Prefetch{SkipShared: true}},
		{"4,nometa", Prefetch{SkipMeta: true}},
	} {
		b.Run("ahead="+c.name, func(b *testing.B) {
			cfg := Config{Entries: 8192, Prefetch: c.p}
			cfg.Memory.Provider = newShuffled(b, 1<<13)
			cfg.Memory.Region = cfg.Memory.Provider.(*shuffled).Region
			x := newDrill(b, cfg, tcpFrame(512))
			x.d.cold = true
			measure(b, x, 64)
		})
	}
}

func BenchmarkNonlinear9000Cold(b *testing.B) {
	for _, distance := range []int{-1, 1} {
		b.Run(map[int]string{-1: "ahead=off", 1: "ahead=1"}[distance], func(b *testing.B) {
			cfg := Config{MTU: 9000, Prefetch: Prefetch{Distance: distance}}
			x := newDrill(b, cfg, tcpFrame(9014))
			x.d.cold = true
			measure(b, x, 64)
		})
	}
}

var programs = map[string]xdp.Program{"none": nil, "pass": pass, "read": read, "drop": drop}

// What a program that only passes, reads headers first, or drops, costs: beside a
// queue without one.
func BenchmarkXDP(b *testing.B) {
	for _, c := range []struct {
		name  string
		mtu   int
		frame []byte
		typ   Type
	}{
		{"linear512", 1500, tcpFrame(512), Auto},
		{"linear512,mtu=1400", 1400, tcpFrame(512), Auto},
		{"nonlinear9000", 9000, tcpFrame(9014), Auto},
		{"cyclic512", 1500, tcpFrame(512), Cyclic},
	} {
		for name, p := range programs {
			b.Run(c.name+"/program="+name, func(b *testing.B) {
				cfg := Config{MTU: c.mtu, Type: c.typ, XDP: xdp.Config{Program: p, Frags: true}}
				measure(b, newDrill(b, cfg, c.frame), 64)
			})
		}
	}
}
