package tx

import (
	"slices"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/packet"
)

// 5,000 senders with a packet each, over and over, on a ring of 1,024 blocks:
// none is dropped, and none gets ahead of another by more than a tenth.
func TestFair(t *testing.T) {
	for _, c := range []Config{
		{}, {Without: MultiPacket}, {Copybreak: Copybreak{Way: Inline, Bytes: 200}},
	} {
		fair(t, c)
	}
}

func fair(t *testing.T, cfg Config) {
	const senders, rounds = 5000, 8
	q, err := New(cfg, nil)
	if err != nil {
		t.Fatal(err)
	}
	slab, err := packet.NewSlab(senders, 1)
	if err != nil {
		t.Fatal(err)
	}
	defer slab.Close()
	sent := make([]int, senders+1) // by packet: each is a sender's own
	waiting := packet.NewBatch(slab, senders)
	q.Serve(slab, func(b *packet.Batch) {
		for k := range b.Len() {
			i := b.Index(k)
			sent[i]++
			waiting.Add(i) // it asks again, behind the others
		}
	})
	for range senders {
		i := slab.Get()
		p := slab.At(i)
		*p = packet.Packet{}
		slab.GetSmall(p)
		p.Linear, p.Len = 100, 100
		waiting.Add(i)
	}
	dev := &device{t: t, sq: q.SQ(), dom: q.dom}
	for now := int64(0); q.count.done < senders*rounds; now++ {
		q.Post(waiting)
		q.Flush()
		dev.step(17)
		dev.sent, dev.wqes = nil, nil
		q.Reap(now)
		if now > 1e6 {
			t.Fatal("no progress")
		}
	}
	least, most := sent[1], sent[1]
	for _, n := range sent[1:] {
		least, most = min(least, n), max(most, n)
	}
	if most-least > 1 {
		t.Errorf("a sender had %d turns, another %d", most, least)
	}
	if s := q.Stats(); s.Dropped != 0 || s.Lost != 0 || s.Stopped == 0 || s.Wake == 0 {
		t.Errorf("%+v", s)
	}
	q.Close()
}

// A full ring stops with its stop room free, and wakes when it is free again;
// what is left stays in the batch, in order (facts/mlx5e.md 1.8, 7.5).
func TestStopAndWake(t *testing.T) {
	for _, c := range []struct {
		cfg        Config
		room, most int
	}{
		{Config{Blocks: 64, Without: MultiPacket}, 31, 34},
		{Config{Blocks: 1024, Without: MultiPacket}, 31, 994},
		{Config{Blocks: 64}, 60, 0},
		{Config{Blocks: 128}, 60, 0},
	} {
		r := newRig(t, c.cfg, dma.Config{Mode: dma.Strict})
		if got := r.q.Effective().StopRoom; got != c.room {
			t.Errorf("stop room %d, want %d", got, c.room)
		}
		posted := 0
		var want [][]byte
		for !r.q.Stopped() && posted < 2000 {
			for range 16 {
				want = append(want, r.add(60, 100))
			}
			posted += r.post()
		}
		left := r.batch.Len()
		n := int(r.q.ring.Free())
		if n >= c.room || c.cfg.Without != 0 && posted != c.most {
			t.Errorf("%+v: %d posted, %d blocks free", c.cfg, posted, n)
		}
		if r.post() != 0 || r.batch.Len() != left {
			t.Errorf("%+v: a stopped queue takes packets", c.cfg)
		}
		r.reap()
		if !r.q.Stopped() {
			t.Error("woken without a completion")
		}
		r.dev.step(1 << 20) // what was posted was rung, without a Flush of ours
		r.reap()
		if s := r.q.Stats(); r.q.Stopped() || s.Stopped != 1 || s.Wake != 1 {
			t.Errorf("%+v: %+v", c.cfg, s)
		}
		r.turn()
		r.same("stop and wake", want)
		r.close()
	}
}

// A stopped queue has rung, and one that goes on cutting rings: whoever waits
// for it to wake need not ring himself.
func TestStopRings(t *testing.T) {
	r := newRig(t, Config{Blocks: 64, Without: TSO}, dma.Config{})
	i, _ := r.packetOf(tcp4Kind(), 50, 0, 4000, 4000, 4000)
	r.put(i)
	for range 300 {
		r.add(60, 100)
	}
	for range 400 {
		if r.q.Post(r.batch); !r.q.Stopped() {
			break
		}
		r.dev.step(99)
		r.reap()
	}
	if r.batch.Len() > 0 || r.q.count.stopped < 10 {
		t.Errorf("%d packets are left, stopped %d times", r.batch.Len(), r.q.count.stopped)
	}
	r.turn()
}

// A session ends before the frame that found no room in it: what it held comes
// back with it, and no buffer that a later one needs.
func TestCutAcrossSessions(t *testing.T) {
	r := newRig(t, Config{Without: TSO, BufBytes: 2048}, dma.Config{})
	i, p := r.packetOf(tcp4Kind(), 600, 0, 4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000,
		4000, 4000, 4000, 4000, 4000, 4000, 4000)
	want := r.wire(p)
	r.put(i)
	r.post()
	r.dev.step(1)
	r.dev.complete(0, desc.OpReq)
	r.reap()
	if n := int(r.q.head.bufs - r.q.tail.bufs); n != len(want)-58 || r.q.InFlight() != 1 {
		t.Errorf("%d buffers are in use behind the first session, want %d; %d in flight",
			n, len(want)-58, r.q.InFlight())
	}
	r.turn()
	r.same("cut", want)
}

// No more bytes are in flight than the limit and the packet that met it; never
// is more completed than was posted (facts/mlx5e.md 12, bug 17).
func TestLimitBytes(t *testing.T) {
	r := newRig(t, Config{LimitBytes: 10000}, dma.Config{})
	for range 300 {
		r.add(60, 940)
		r.add(20)
	}
	for r.batch.Len() > 0 {
		r.post()
		if n := r.q.head.bytes - r.q.tail.bytes; n < 10000 || n > 11000 {
			if r.batch.Len() > 0 {
				t.Fatalf("%d bytes in flight", n)
			}
		}
		r.dev.step(99)
		r.reap()
		if r.q.head.bytes != r.q.tail.bytes {
			t.Fatal("not all came back")
		}
	}
	if s := r.q.Stats(); s.Bytes != 300*(1000+60) || s.Dropped != 0 || s.Stopped < 30 {
		t.Errorf("%+v", s)
	}
	// A restart gives the bytes back, too.
	for range 20 {
		r.add(60, 940)
	}
	r.post()
	r.dev.complete(0, desc.OpReqErr)
	r.reap()
	if r.q.head.bytes != r.q.tail.bytes || r.q.Stopped() {
		t.Errorf("%d bytes in flight behind a restart", r.q.head.bytes-r.q.tail.bytes)
	}
	r.dev.taken = 0
}

// The longest frame there can be, and one with tags, in the smallest buffers
// and the largest.
func TestLongestFrame(t *testing.T) {
	for _, buf := range []int{64, 2048} {
		r := newRig(t, Config{MTU: maxMTU, BufBytes: buf, Blocks: 64, Without: Checksum}, modes[3])
		frags := append(slices.Repeat([]int{4090}, 16), maxMTU+minFrame-66-16*4090)
		i, p := r.packetOf(tcp4Kind(), 0, 0, frags...)
		j, tagged := r.packetOf(kinds()[4], 0, 0, frags...)
		tagged.TagType = 0x88a8
		want := append(r.wire(p), r.wire(tagged)...)
		r.put(i)
		r.put(j)
		r.turn()
		r.same("longest", want)
		if len(want[0]) != 65523 || len(want[1]) != 65531 {
			t.Errorf("%d and %d bytes", len(want[0]), len(want[1]))
		}
		r.close()
	}
}

// A queue whose way is changed to one that has no memory left stops.
func TestLinearizeRunsOut(t *testing.T) {
	r := newRig(t, Config{Blocks: 256, Copybreak: Copybreak{Way: Linearize, Bytes: 100}}, modes[1])
	for range 300 {
		r.add(60)
	}
	if n := r.post(); n != 256 || !r.q.Stopped() {
		t.Errorf("%d taken, stopped %v", n, r.q.Stopped())
	}
	if err := r.q.SetCopybreak(Copybreak{}); err != nil {
		t.Fatal(err)
	}
	r.reap()
	if r.q.Stopped() {
		t.Error("mapped needs no pages")
	}
	if err := r.q.SetCopybreak(Copybreak{Way: Linearize, Bytes: 100}); err != nil {
		t.Fatal(err)
	}
	if r.post() != 0 || !r.q.Stopped() {
		t.Error("not stopped without a page")
	}
	r.turn()
	if n := len(r.dev.sent); n != 300 {
		t.Errorf("%d sent", n)
	}
}

// A large packet that is cut in software meets a full ring, goes on behind the
// next Reap, and nothing overtakes it.
func TestCutMeetsFullRing(t *testing.T) {
	for _, cfg := range []Config{
		{Blocks: 64, Without: TSO}, {Blocks: 64, Without: TSO | MultiPacket},
		{Blocks: 64, Without: allOffloads, BufBytes: 64},
	} {
		r := newRig(t, cfg, dma.Config{Mode: dma.Bounce, Poison: true})
		var want [][]byte
		for range 3 {
			i, p := r.packetOf(tcp4Kind(), 600, 0, 4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000,
				4000, 4000, 4000, 4000, 4000, 4000, 4000, 4000)
			want = append(want, r.wire(p)...)
			r.put(i)
			want = append(want, r.add(100, 50))
		}
		if n := r.post(); n != 1 || !r.q.Stopped() || r.q.InFlight() != 1 {
			t.Errorf("%+v: %d taken, stopped %v, %d in flight",
				cfg, n, r.q.Stopped(), r.q.InFlight())
		}
		r.turn()
		r.same("cut", want)
		s := r.q.Stats()
		if s.Software.Packets < 3 || s.Packets != uint64(len(want)) || s.Stopped < 3 {
			t.Errorf("%+v: %+v", cfg, s)
		}
		r.close()
	}
}
