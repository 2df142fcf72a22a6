package rx

import (
	"fmt"
	"slices"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/pagepool"
)

// A source of pages that can be made to give only so many.
type source struct {
	*mem.Region
	left int
}

func (s *source) Alloc(dst []mem.Ref) int {
	n := s.Region.Alloc(dst[:min(len(dst), s.left)])
	s.left -= n
	return n
}

// limited is a queue whose source gives left pages in all, until more are
// granted.
func limited(t *testing.T, cfg Config, left int) (*Queue, *device, *source) {
	t.Helper()
	region, err := mem.Open(mem.Config{Pages: 2048, Kind: mem.Heap})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if region.Free() != 2048 {
			t.Errorf("%d pages are not home", 2048-region.Free())
		}
		region.Close()
	})
	s := &source{region, left}
	cfg.Memory.Region, cfg.Memory.Provider = region, s
	q, d := open(t, cfg, dma.New(dma.Config{}))
	return q, d, s
}

// law fails the test unless each page is in exactly one place.
func law(t testing.TB, q *Queue) {
	t.Helper()
	k := q.Books()
	if k.Free+k.Posted+k.Waiting+k.Filler+k.Side+k.Held != k.Total || k.Held < 0 {
		t.Fatalf("books do not balance: %+v", k)
	}
	if s := q.Pool().Stats(); s.BadPut != 0 {
		t.Fatalf("%d bad puts", s.BadPut)
	}
}

// The source fails at page k of a WQE, for every k: nothing is released twice,
// nothing lost, and once there is memory the ring is full again (facts/mlx5e.md
// 12, bug 26). Traffic runs all the while.
func TestRefillFailsAtEveryPage(t *testing.T) {
	for _, cfg := range []Config{{}, {Type: Cyclic}, {Type: Cyclic, MTU: 5700, Entries: 64}} {
		for k := range 65 {
			name := fmt.Sprintf("type %d MTU %d page %d", cfg.Type, cfg.MTU, k)
			t.Run(name, func(t *testing.T) { failAt(t, cfg, k) })
		}
	}
}

func failAt(t *testing.T, cfg Config, k int) {
	q, d, s := limited(t, cfg, 1+64+k)
	for round := range 300 {
		if round == 200 {
			s.left = 2048
		}
		d.send(tcpFrame(100 + round))
		d.plain()
		b := receive(t, q)
		law(t, q)
		q.Free(b)
		law(t, q)
	}
	if q.Stats().BuffAllocErr == 0 && 65+k < q.plan.Pages {
		t.Error("no failure was counted")
	}
	if n := q.plan.WQEs - int(q.posted); n > q.plan.Bulk {
		t.Errorf("%d WQEs are missing at the end", n)
	}
}

// Memory for one and a half WQEs still moves traffic (facts/mlx5e.md 12, bug
// 23, and 5.6).
func TestOneAndAHalfWQEs(t *testing.T) {
	q, d, _ := limited(t, Config{}, 1+96)
	got := 0
	for range 2000 {
		d.send(tcpFrame(500))
		d.plain()
		b := receive(t, q)
		got += b.Len()
		q.Free(b)
		q.Poll(b, 0) // the one behind it, without traffic
		law(t, q)
	}
	if got < 1990 {
		t.Errorf("%d of 2000 frames arrived, %d found nothing posted", got, d.refused)
	}
}

// A ring that ran dry while memory was out fills again by itself, without a
// single frame (facts/mlx5e.md 12, bug 62).
func TestDryRingRefillsWithoutTraffic(t *testing.T) {
	for _, cfg := range []Config{{}, {Type: Cyclic}} {
		q, d, s := limited(t, cfg, 1+512)
		held := receive(t, q)
		for d.send(tcpFrame(500)) {
			d.plain()
			q.Poll(held, 64)
		}
		if k := q.Books(); q.posted != 0 || k.Posted != 0 {
			t.Fatalf("%d WQEs posted, %+v", q.posted, k)
		}
		empty := receive(t, q)
		q.Free(held)
		q.Poll(empty, 0)
		if want := q.plan.WQEs - q.plan.Bulk; int(q.posted) < want {
			t.Errorf("%d WQEs posted after one poll, want %d", q.posted, want)
		}
		if b, _ := one(t, q, d, tcpFrame(500)); b != nil {
			q.Free(b)
		}
		_ = s
	}
}

// 511 WQEs are missing at once: no counter is too narrow (facts/mlx5e.md 12,
// bug 60). The source is dry, then not.
func TestManyMissing(t *testing.T) {
	region, err := mem.Open(mem.Config{Pages: 511*64 + 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { region.Close() })
	s := &source{region, 1}
	cfg := Config{MTU: 9000, Entries: 8192, Memory: Memory{Region: region, Provider: s}}
	q, _ := open(t, cfg, nil)
	if q.posted != 0 {
		t.Fatalf("%d posted", q.posted)
	}
	b := receive(t, q)
	for _, wqes := range []int{1, 255, 256, 257, 511} {
		s.left = wqes*64 - (q.Pool().Books().Total - 1)
		q.Poll(b, 64)
		if int(q.posted) != wqes {
			t.Errorf("%d WQEs posted, want %d", q.posted, wqes)
		}
	}
	if got := q.rq.Producer.Load(); got != 511 {
		t.Errorf("doorbell says %d", got)
	}
}

// The software page index counts pages, the device's address also the filler
// entries (facts/mlx5e.md 12, bug 33). Filler entries lead to one page.
func TestTranslation(t *testing.T) {
	q, _ := open(t, Config{}, nil)
	const access = desc.MTTRead | desc.MTTWrite
	if q.rq.WQEAddr(3) != 3*72<<12 {
		t.Errorf("WQE 3 is at %#x", q.rq.WQEAddr(3))
	}
	filler := q.filler.Meta().IOVA | access
	for i, mtt := range q.rq.MTT {
		wqe, k := i/72, i%72
		want := filler
		if k < 64 && wqe < 7 {
			want = q.pages[wqe*64+k].Page.Meta().IOVA | access
		}
		if mtt != want {
			t.Fatalf("entry %d of WQE %d is %#x, want %#x", k, wqe, mtt, want)
		}
	}
}

// Refills come in bulk: a striding ring of 8 waits for two missing WQEs. That of
// this poll is left out, whose packets are not home yet, while half of the ring is
// posted.
func TestRefillInBulk(t *testing.T) {
	q, d := open(t, Config{}, nil)
	for _, c := range []struct{ wqes, posted, ever uint32 }{
		{1, 6, 7}, {1, 6, 8}, {0, 6, 8}, {2, 5, 9}, {0, 7, 11}, {4, 7, 15}, {1, 6, 15}, {3, 7, 19},
	} {
		for range c.wqes * 128 {
			d.send(tcpFrame(60))
		}
		d.plain()
		b := packet.NewBatch(q.Slab(), 512)
		q.Poll(b, 512)
		if q.Free(b); q.posted != c.posted || q.counter != c.ever {
			t.Errorf("%d posted of %d, want %+v", q.posted, q.counter, c)
		}
	}
}

// A queue whose packets come home by the next poll keeps its pages, whatever the
// batch: none of them goes through the pool.
func TestPagesStay(t *testing.T) {
	for _, cfg := range []Config{{}, {MTU: 9000}, {Type: Cyclic}, {Type: Cyclic, MTU: 9000}} {
		q, d := open(t, cfg, nil)
		b := packet.NewBatch(q.Slab(), 64)
		var before []pagepool.Slot
		for round := range 80 {
			if round == 40 { // all WQEs have been posted
				before = slices.Clone(q.pages)
			}
			for range 64 {
				d.send(tcpFrame(q.plan.MaxFrame))
			}
			d.plain()
			q.Poll(b, 64)
			q.Free(b)
		}
		for i := range before {
			if q.pages[i].Page != before[i].Page {
				t.Fatalf("%+v: page %d of %d was replaced", cfg, i, len(before))
			}
		}
	}
}

// A provider that gives pages of another region is refused: nothing is written
// through them.
func TestForeignPage(t *testing.T) {
	own, err := mem.Open(mem.Config{Pages: 512, Kind: mem.Heap})
	if err != nil {
		t.Fatal(err)
	}
	defer own.Close()
	other, err := mem.Open(mem.Config{Pages: 512, Kind: mem.Heap})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	if _, err := New(Config{Memory: Memory{Region: own, Provider: other}}, nil); err == nil {
		t.Error("a foreign page was installed")
	}
	if other.Free() != 512 {
		t.Errorf("%d foreign pages are not home", 512-other.Free())
	}
}
