package rx

import (
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/xdp"
)

// No packet allocates, on any path.
func TestNothingIsAllocated(t *testing.T) {
	if check.On {
		t.Log("assertions allocate")
		return
	}
	for _, c := range []struct {
		cfg  Config
		size int
	}{
		{Config{}, 512},
		{Config{MTU: 9000}, 9014},
		{Config{Type: Cyclic}, 512},
		{Config{Type: Cyclic, MTU: 9000}, 9014},
		{Config{Offloads: Offloads{Compression: desc.CompressBasic}}, 512},
		{Config{Offloads: Offloads{Compression: desc.CompressEnhanced}}, 512},
		{Config{Memory: Memory{PageBytes: 65536}}, 1514},
		{Config{XDP: xdp.Config{Program: read}}, 512},
		{Config{XDP: xdp.Config{Program: read}, Type: Cyclic}, 512},
		{Config{XDP: xdp.Config{Program: pass, Frags: true}, MTU: 9000}, 9014},
		{Config{XDP: xdp.Config{Program: read, Frags: true}, MTU: 9000}, 9014},
		{Config{XDP: xdp.Config{Program: mixed}}, 512},
		{Config{XDP: xdp.Config{Program: mixed}, Type: Cyclic}, 512},
		{Config{XDP: xdp.Config{Program: mixed, Frags: true}, MTU: 9000}, 9014},
		{Config{XDP: xdp.Config{Program: mixed, Frags: true}, MTU: 9000, Type: Cyclic}, 9014},
	} {
		q, d := open(t, c.cfg, nil)
		b, frame := packet.NewBatch(q.Slab(), 64), tcpFrame(c.size)
		dev := sender(t, q, nil)
		round := func() {
			dev.Step(1)
			for range 32 {
				d.send(frame)
			}
			d.flush()
			q.Poll(b, 64)
			q.Free(b)
		}
		for range 100 {
			round() // pending grows to its size
		}
		if n := testing.AllocsPerRun(200, round); n != 0 {
			t.Errorf("%+v: %v allocations a round", c.cfg, n)
		}
	}
}

// The zero value works, and Plan says what it came to.
func TestZeroConfig(t *testing.T) {
	q, _ := open(t, Config{}, nil)
	want, err := Config{}.Plan()
	if err != nil || q.Plan() != want {
		t.Errorf("%+v, want %+v (%v)", q.Plan(), want, err)
	}
	if q.RQ().State() != desc.Ready || q.RQ().Producer.Load() != 7 {
		t.Errorf("state %d, %d posted", q.RQ().State(), q.RQ().Producer.Load())
	}
	if k := q.Books(); k != (Books{Total: 512, Free: 63, Posted: 448, Filler: 1}) {
		t.Errorf("%+v", k)
	}
}

// Fragments, their pages and chained packets go back in one Free.
func TestFreeTakesChains(t *testing.T) {
	q, d := open(t, Config{MTU: 9000}, nil)
	for range 3 {
		d.send(tcpFrame(5000))
	}
	d.plain()
	b := receive(t, q)
	first, second := b.At(0), b.At(1)
	first.Shared().Chain, first.Shared().Last = b.Index(1), b.Index(2)
	second.Next = b.Index(2)
	first.Len += 10000
	chain := packet.NewBatch(q.Slab(), 1)
	chain.Add(b.Index(0))
	b.Reset()
	q.Free(chain)
	if k := q.Books(); k.Packets != 0 || k.Heads != 0 || k.Held != 0 {
		t.Errorf("%+v", k)
	}
	for slot := range 8 {
		pg := &q.pages[slot]
		if m := pg.Page.Meta(); m.Refs != 65535-int32(pg.Given) {
			t.Errorf("page %d: %d references, %d were handed out", slot, m.Refs, pg.Given)
		}
	}
}

// Records run out before pages do: frames are dropped and counted, and their
// strides are not lost.
func TestNoRecord(t *testing.T) {
	for _, cfg := range []Config{{}, {MTU: 9000}, {Type: Cyclic}, {Type: Cyclic, MTU: 9000}} {
		cfg.Memory.Packets = 3
		q, d := open(t, cfg, nil)
		for range 200 {
			for range 5 {
				d.send(tcpFrame(1000))
			}
			d.plain()
			b := packet.NewBatch(q.Slab(), 64)
			q.Poll(b, 64)
			if b.Len() != 3 {
				t.Fatalf("%d packets", b.Len())
			}
			q.Free(b)
		}
		s := q.Stats()
		if s.Drops[packet.DropNoMemory] != 400 || s.BuffAllocErr != 400 || !s.Balanced() {
			t.Errorf("%+v: %+v", cfg, s)
		}
	}
}

// The doorbell of the CQ is rung once, with 24 bits, before anything is posted.
func TestDoorbells(t *testing.T) {
	q, d := open(t, Config{Type: Cyclic, Entries: 8}, nil)
	q.cc, d.cc = 1<<24-4, 1<<24-4
	q.cq.Consumer.Ring(q.cc)
	for i := range q.cq.Entries { // as if all laps before had been passed
		q.cq.Entries[i].Publish(desc.PackOwn(0, 0, 0, q.cq.Lap(q.cc)-1))
	}
	for range 3 {
		b, _ := one(t, q, d, tcpFrame(60))
		q.Free(b)
	}
	if got := q.cq.Consumer.Load(); got != 1<<24-1 {
		t.Errorf("doorbell %#x", got)
	}
	b, _ := one(t, q, d, tcpFrame(60))
	q.Free(b)
	if got := q.cq.Consumer.Load(); got != 0 {
		t.Errorf("doorbell %#x", got)
	}
}

// Other goroutines read Stats and return pages while the queue is polled, on
// memory that the race detector sees.
func TestOtherGoroutines(t *testing.T) {
	q, d := open(t, Config{Memory: Memory{Kind: mem.Heap}}, nil)
	pages, done := make(chan []mem.Ref, 16), make(chan struct{})
	var wg sync.WaitGroup
	wg.Add(2)
	go func() {
		defer wg.Done()
		for p := range pages {
			q.Pool().Return(p)
		}
	}()
	go func() {
		defer wg.Done()
		for {
			select {
			case <-done:
				return
			default:
				if s := q.Stats(); !s.Balanced() {
					t.Errorf("%+v", s)
				}
			}
		}
	}()
	for range 300 {
		for range 10 {
			d.send(tcpFrame(500))
		}
		d.plain()
		b := receive(t, q)
		var lent []mem.Ref
		for i := range b.Len() {
			lent = append(lent, b.At(i).Head)
			b.At(i).HeadKind = packet.HeadNone // the page is somebody else's
		}
		q.Free(b)
		pages <- lent
	}
	close(pages)
	close(done)
	wg.Wait()
	q.Free(receive(t, q)) // drains what came back
	if k := q.Books(); k.Held != 0 || k.Packets != 0 {
		t.Errorf("%+v", k)
	}
}

// Every counter has ethtool's name, once.
func TestEthtoolNames(t *testing.T) {
	s := Stats{Packets: 1, BuffAllocErr: 2}
	s.Pool.RecycleReleasedRef = 3
	got := maps.Collect(s.Ethtool())
	for name, want := range map[string]uint64{
		"packets": 1, "buff_alloc_err": 2, "pp_recycle_released_ref": 3, "csum_complete": 0,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %d, want %d", name, v, want)
		}
	}
	n := 0
	for range s.Ethtool() {
		n++
	}
	if n != len(got) || n != 36 {
		t.Errorf("%d counters, %d names", n, len(got))
	}
	for name := range s.Ethtool() {
		if name != "packets" {
			t.Errorf("the first is %s", name)
		}
		break
	}
}

// The prefetch switches change no packet, whatever stride a poll begins with, one
// stride or several a page.
func TestPrefetchVariants(t *testing.T) {
	for _, p := range []Prefetch{{}, {Distance: -1}, {Distance: 1}, {Distance: 64}, {Own: true},
		{SkipShared: true}, {SkipMeta: true}, {Distance: 8, SkipShared: true, SkipMeta: true}} {
		for _, c := range []Config{{}, {MTU: 3000}, {XDP: xdp.Config{Program: pass}},
			{Memory: Memory{PageBytes: 65536}}} {
			c.Prefetch = p
			t.Run(fmt.Sprintf("%+v, MTU %d, pages of %d, program %v", p, c.MTU,
				c.Memory.PageBytes, c.XDP.Program != nil), func(t *testing.T) {
				q, d := open(t, c, poisoned())
				for i := range 300 {
					b, _ := one(t, q, d, tcpFrame(54+i))
					q.Free(b)
				}
			})
		}
	}
}
