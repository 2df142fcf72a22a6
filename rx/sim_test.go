package rx

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/pagepool"
)

// A world is a queue with all that may happen to it, drawn from a seed.
type world struct {
	t      *testing.T
	r      *rand.Rand
	q      *Queue
	d      *device
	region *mem.Region
	src    *source
	sent   [][]byte    // not yet received, in order
	dev    *nic.Device // sends what the program sends
	far    *nic.End
	passed [][]byte // what the program let pass, in order
	tx     [][]byte // what it sent
	handed [][]byte // what it redirected to a handler
	held   []*packet.Batch
	copies [][][]byte // of the packets held
	spoilt bool       // a lie was told: frames may be missing
}

// TestSimulation: random frames, fillers, budgets, failing memory, packets
// held for long, errors and lies. After every step every page is in exactly
// one place with the right count, and what was delivered is what was sent.
func TestSimulation(t *testing.T) {
	seed := testenv.Seed(t)
	for i := range testenv.Seeds(1000) {
		w := newWorld(t, testenv.Rand(seed+uint64(i), 0))
		for range 60 {
			if w.step(); !t.Failed() {
				w.law()
			}
		}
		if w.end(); t.Failed() {
			t.Fatalf("SEED=%d: %+v", seed+uint64(i), w.q.cfg)
		}
	}
}

func newWorld(t *testing.T, r *rand.Rand) *world {
	pick := func(n ...int) int { return n[r.IntN(len(n))] }
	cfg := Config{
		MTU: pick(100, 600, 1500, 1500, 3000, 5700, 9000), Entries: pick(8, 16, 64),
		Type: Type(r.IntN(3)), HeaderCopy: HeaderCopy(r.IntN(2)),
		Offloads: Offloads{Compression: desc.Compression(r.IntN(3))},
		Memory:   Memory{PageBytes: pick(4096, 4096, 16384, 65536), Packets: pick(8, 64, 512)},
	}
	cfg.Offloads.LRO = cfg.Type != Cyclic && r.IntN(4) == 0
	w := &world{t: t, r: r}
	w.attach(&cfg)
	plan, err := cfg.Plan()
	if err != nil {
		t.Fatal(err)
	}
	pages := plan.GroupPages + 2 + r.IntN(2*plan.Pages)
	w.region, err = mem.Open(mem.Config{PageBytes: cfg.Memory.PageBytes, Pages: pages})
	if err != nil {
		t.Fatal(err)
	}
	w.src = &source{w.region, 1 + r.IntN(2*pages)}
	cfg.Memory.Region, cfg.Memory.Provider = w.region, w.src
	dom := dma.New(dma.Config{Mode: dma.Mode(r.IntN(2)), Poison: true})
	if w.q, err = New(cfg, dom); err != nil {
		t.Fatal(err)
	}
	w.d = newDevice(w.q)
	w.wire()
	return w
}

func (w *world) step() {
	switch w.r.IntN(14) {
	case 0, 1, 2, 3:
		for range w.r.IntN(20) {
			w.send()
		}
		w.d.flush()
	case 4, 5, 6, 7:
		w.poll(w.r.IntN(40))
	case 8, 9:
		w.free()
	case 10:
		w.src.left = w.r.IntN(200)
	case 12, 13:
		w.dev.Step(1)
		w.leave()
	case 11:
		switch {
		case w.r.IntN(3) > 0:
		case w.r.IntN(2) == 0:
			w.error()
		default:
			w.lie()
		}
	}
}

func (w *world) send() {
	n := 1 + w.r.IntN(w.q.plan.MaxFrame+w.r.IntN(2)*100)
	frame := stamped(n)
	frame[w.r.IntN(n)] = byte(w.r.Uint32())
	if !w.d.send(frame) {
		return
	}
	w.sent = append(w.sent, frame)
}

// error stops the queue: frames that wait in it are delivered first.
func (w *world) error() {
	if w.d.follow(); w.d.room() > 1 && w.d.rq.Modify(desc.Ready, desc.Error) {
		w.d.fail(desc.LocalProt)
		w.d.fail(desc.WRFlush)
		w.d.plain()
	}
}

// lie changes some bytes of a frame's completion.
func (w *world) lie() {
	w.d.follow()
	w.send()
	for i := range w.d.pending {
		c := &w.d.pending[i]
		switch w.r.IntN(3) {
		case 0:
			c.counter = uint16(w.r.Uint32())
		case 1:
			c.op = desc.Opcode(w.r.IntN(16))
		}
		for range w.r.IntN(3) {
			c.cqe[w.r.IntN(60)] = byte(w.r.Uint32())
		}
	}
	w.d.plain()
	w.spoilt = true
}

func (w *world) poll(budget int) (n int) {
	b := packet.NewBatch(w.q.Slab(), 1+w.r.IntN(64))
	if n = w.q.Poll(b, budget); n > budget {
		w.t.Errorf("%d completions with a budget of %d", n, budget)
	}
	w.take(b)
	return n
}

// take compares what was received with what was sent, and holds on to it.
func (w *world) take(b *packet.Batch) {
	var all [][]byte
	for i := range b.Len() {
		got := contents(b, i)
		list := &w.sent
		if w.q.xdp != nil {
			list = &w.passed
		}
		if !w.spoilt && !find(list, got) {
			w.t.Errorf("packet of %d bytes was not sent", len(got))
		}
		if !annotated(b.At(i)) {
			w.t.Errorf("metadata differ: %+v", b.At(i))
		}
		if int(b.At(i).Len) != len(got) {
			w.t.Errorf("packet says %d bytes and has %d", b.At(i).Len, len(got))
		}
		all = append(all, got)
	}
	w.held, w.copies = append(w.held, b), append(w.copies, all)
}

// find drops frames from the front of the list up to got: those between were
// dropped, which the books show.
func find(list *[][]byte, got []byte) bool {
	for len(*list) > 0 {
		f := (*list)[0]
		*list = (*list)[1:]
		if bytes.Equal(f, got) {
			return true
		}
	}
	return false
}

func (w *world) free() {
	if len(w.held) == 0 {
		return
	}
	i := w.r.IntN(len(w.held))
	for k := range w.held[i].Len() {
		if !bytes.Equal(contents(w.held[i], k), w.copies[i][k]) {
			w.t.Errorf("a held packet changed")
		}
	}
	w.q.Free(w.held[i])
	w.held = append(w.held[:i], w.held[i+1:]...)
	w.copies = append(w.copies[:i], w.copies[i+1:]...)
}

// law: books balance, each page's count is what ring and packets hold, nothing
// was touched outside.
func (w *world) law() {
	k, s := w.q.Books(), w.q.Pool().Stats()
	if k.Free+k.Posted+k.Waiting+k.Filler+k.Side+k.Held != k.Total || k.Held < 0 ||
		s.BadPut != 0 || w.q.Slab().BadFrees() != 0 {
		w.t.Errorf("books %+v, %d bad puts", k, s.BadPut)
	}
	if k.Total+w.region.Free() != w.region.Pages() {
		w.t.Errorf("%d pages in the pool, %d free, of %d",
			k.Total, w.region.Free(), w.region.Pages())
	}
	refs, records, heads := w.references()
	for slot := range w.q.pages {
		if pg := &w.q.pages[slot]; pg.Page != mem.None {
			refs[pg.Page.Page()] += pagepool.Bias - int32(pg.Given)
		}
	}
	if w.q.filler != mem.None {
		refs[w.q.filler.Page()] += pagepool.Bias
	}
	if x := w.q.xdp; x != nil && x.side.Page != mem.None {
		refs[x.side.Page.Page()] += pagepool.Bias - int32(x.side.Given)
	}
	sending := 0
	for i, users := range refs {
		m := w.region.Ref(i).Meta()
		if m.Refs < users || k.Sending == 0 && m.Refs != users {
			w.t.Errorf("page %d has %d references, but %d users", i, m.Refs, users)
		}
		sending += int(m.Refs - users)
	}
	if sending != k.Sending {
		w.t.Errorf("%d references without user, %d are being sent", sending, k.Sending)
	}
	if k.Packets != records || k.Heads != heads {
		w.t.Errorf("%+v, but %d packets and %d heads are held", k, records, heads)
	}
	if st := w.q.Stats(); !st.Balanced() {
		w.t.Errorf("received %d: %+v", st.Received(), st)
	}
	if d := w.q.dom.Stats(); d.DriverFaults != 0 || d.UnsyncedReads != 0 || d.DeviceFaults != 0 {
		w.t.Errorf("%+v", d)
	}
}

// references counts what the held packets hold.
func (w *world) references() (refs []int32, records, heads int) {
	refs = make([]int32, w.region.Pages())
	for _, b := range w.held {
		records += b.Len()
		for i := range b.Len() {
			p := b.At(i)
			if p.HeadKind == packet.HeadPage {
				refs[p.Head.Page()]++
			} else {
				heads++
			}
			s := p.Shared()
			for _, f := range s.Frags[:s.NumFrags] {
				refs[f.Ref.Page()]++
			}
		}
	}
	return refs, records, heads
}

// end lets everything come home.
func (w *world) end() {
	w.src.left = w.region.Pages()
	for idle := 0; idle < 20; idle++ {
		if w.poll(64) > 0 {
			idle = 0
		}
		w.dev.Step(1)
		w.leave()
		for len(w.held) > 0 {
			w.free()
		}
	}
	w.law()
	if need := min(w.q.plan.Bulk, w.q.plan.WQEs); w.q.posted == 0 && need > 0 {
		w.t.Errorf("nothing is posted at the end: %+v", w.q.Books())
	}
	if err := w.q.Close(); err != nil {
		w.t.Error(err)
	}
	if n := w.region.Free(); n != w.region.Pages() {
		w.t.Errorf("%d pages are not home", w.region.Pages()-n)
	}
	if s := w.q.dom.Stats(); s.Maps != s.Unmaps {
		w.t.Errorf("%d maps, %d unmaps", s.Maps, s.Unmaps)
	}
	if err := w.region.Close(); err != nil {
		w.t.Error(err)
	}
}
