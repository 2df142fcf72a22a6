package tx

import (
	"sync"
	"testing"

	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// A rig is a queue with its device, packets and pages, and a record of where
// each packet is.
type rig struct {
	t      testing.TB
	q      *Queue
	dev    *device
	dom    *dma.Domain
	slab   *packet.Slab
	batch  *packet.Batch
	pages  []mem.Ref
	frags  int            // fragment that comes next
	out    map[uint32]int // packets that are not home, by index: times posted
	home   int
	chains map[uint32][]uint32
	now    int64
}

const rigPackets = 1536

// Memory for packets, half of the pages for heads and half for fragments, is
// shared by all tests and filled once: tests build packets around what lies
// there, and write headers only.
const (
	rigPages  = 128
	headBytes = 2048
	headSlots = 24 // in a page; SharedInfos lie behind them
)

var rigMemory = sync.OnceValue(func() *mem.Region {
	region, err := mem.Open(mem.Config{PageBytes: 65536, Pages: rigPages, Kind: mem.Heap})
	if err != nil {
		panic(err)
	}
	region.Alloc(make([]mem.Ref, rigPages))
	rng := testenv.Rand(1, 1)
	for i := range rigPages {
		b := region.Ref(i).Bytes(0, 65536)
		for k := range b {
			b[k] = byte(rng.Uint32())
		}
	}
	return region
})

func newRig(t testing.TB, cfg Config, d dma.Config) *rig {
	t.Helper()
	cfg.Kind = mem.Heap
	r := &rig{t: t, dom: dma.New(d), out: map[uint32]int{}, chains: map[uint32][]uint32{}}
	var err error
	if r.q, err = New(cfg, r.dom); err != nil {
		t.Fatal(err)
	}
	if r.slab, err = packet.NewSlab(rigPackets, mem.Heap); err != nil {
		t.Fatal(err)
	}
	for i := range rigPages {
		r.pages = append(r.pages, rigMemory().Ref(i))
	}
	r.batch = packet.NewBatch(r.slab, rigPackets)
	if err = r.q.Serve(r.slab, r.free); err != nil {
		t.Fatal(err)
	}
	r.dev = &device{t: t, sq: r.q.SQ(), dom: r.dom}
	t.Cleanup(r.close)
	return r
}

// free takes packets home: each once.
func (r *rig) free(b *packet.Batch) {
	for k := range b.Len() {
		i := b.Index(k)
		if r.out[i] != 1 {
			r.t.Errorf("packet %d comes home, but is out %d times", i, r.out[i])
		}
		delete(r.out, i)
		r.home++
		r.slab.Free(i)
		for _, c := range r.chains[i] {
			r.slab.Free(c)
		}
		delete(r.chains, i)
	}
	b.Reset()
}

// frag is n bytes somewhere.
func (r *rig) frag(n int) packet.Frag {
	r.frags++
	pages := r.pages[rigPages/2:]
	off := uint32(r.frags/len(pages)) * 1111 % 61440
	return packet.Frag{Ref: pages[r.frags%len(pages)], Off: off, Len: uint32(n)}
}

// blank is a packet of head bytes and fragments, without any wish.
func (r *rig) blank(head int, frags ...int) (uint32, *packet.Packet) {
	r.t.Helper()
	i := r.slab.Get()
	if i == 0 {
		r.t.Fatal("no packet is free")
	}
	p := r.slab.At(i)
	at := int(i - 1) // a head of its own
	slot := uint32(at / (rigPages / 2))
	*p = packet.Packet{
		HeadKind: packet.HeadPage, Head: r.pages[at%(rigPages/2)],
		Data: slot * headBytes, Room: headSlots*headBytes + slot*packet.SharedBytes,
		Linear: uint32(head), Len: uint32(head),
	}
	if len(frags) > 0 {
		*p.Shared() = packet.SharedInfo{NumFrags: uint32(len(frags))}
	}
	for k, n := range frags {
		p.Shared().Frags[k] = r.frag(n)
		p.Len += uint32(n)
	}
	return i, p
}

// bytes are those of the packet, in one run.
func (r *rig) bytes(p *packet.Packet) []byte {
	b := append([]byte{}, p.Bytes()...)
	if p.Len != p.Linear {
		for _, f := range p.Shared().Frags[:min(p.Shared().NumFrags, packet.MaxFrags)] {
			b = append(b, f.Bytes()...)
		}
	}
	return b
}

// add puts a packet of random bytes into the batch and returns these.
func (r *rig) add(head int, frags ...int) []byte {
	i, p := r.blank(head, frags...)
	b := r.bytes(p)
	r.put(i)
	return b
}

// put puts packet i into the batch.
func (r *rig) put(i uint32) {
	r.batch.Add(i)
	r.out[i]++
}

// post posts the batch, rings, and says how many packets were taken.
func (r *rig) post() int {
	n := r.q.Post(r.batch)
	r.q.Flush()
	r.law()
	return n
}

// reap takes completions.
func (r *rig) reap() {
	r.now += 1000
	r.q.Reap(r.now)
	r.law()
}

// turn has everything sent and come home.
func (r *rig) turn() {
	r.t.Helper()
	for range 2000 {
		r.post()
		r.dev.step(1 << 20)
		r.reap()
		if r.batch.Len() == 0 && r.q.InFlight() == 0 && !r.q.Stopped() {
			return
		}
	}
	r.t.Errorf("%d packets wait, %d are in flight, stopped: %v",
		r.batch.Len(), r.q.InFlight(), r.q.Stopped())
}

// law: every packet is in one place, every count agrees.
func (r *rig) law() {
	r.t.Helper()
	c := &r.q.count
	if c.posted != c.done+c.lost+uint64(r.q.InFlight()) {
		r.t.Errorf("posted %d, done %d, lost %d, in flight %d",
			c.posted, c.done, c.lost, r.q.InFlight())
	}
	dropped := uint64(0)
	for _, n := range c.drops {
		dropped += n
	}
	held := int(r.q.head.held - r.q.tail.held)
	if r.q.cutter.on {
		held++
	}
	if n := len(r.out) - r.batch.Len(); n != held {
		r.t.Errorf("%d packets are out of the batch, the queue holds %d", n, held)
	}
	if d := r.q.head.maps - r.q.tail.maps; d > uint32(len(r.q.maps)) {
		r.t.Errorf("%d mappings", d)
	}
}

// close closes the queue: all is home, what was mapped is unmapped.
func (r *rig) close() {
	r.t.Helper()
	for k := range r.batch.Len() {
		delete(r.out, r.batch.Index(k))
	}
	r.batch.Reset()
	if err := r.q.Close(); err != nil {
		r.t.Error(err)
	}
	if len(r.out) != 0 || r.q.InFlight() != 0 {
		r.t.Errorf("%d packets are not home behind Close, %d in flight", len(r.out), r.q.InFlight())
	}
	if s := r.dom.Stats(); s.Maps != s.Unmaps || s.DriverFaults != 0 || s.DeviceFaults != 0 ||
		s.UnsyncedWrites != 0 {
		r.t.Errorf("domain: %+v", s)
	}
	r.slab.Close()
}
