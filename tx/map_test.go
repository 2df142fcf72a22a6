package tx

import (
	"testing"

	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/packet"
)

// A map that fails at any step of a packet: what was mapped of it is unmapped
// and nothing else, earlier packets go to the device although nobody has rung,
// the packet is counted, and the next one finds the queue in order
// (facts/mlx5e.md 7.4; 12, bug 13).
func TestMapFails(t *testing.T) {
	build := map[string]func(*rig) uint32{
		"a session": func(r *rig) uint32 { i, _ := r.blank(60); return i },
		"pieces":    func(r *rig) uint32 { i, _ := r.blank(60, 50, 50, 50); return i },
		"large": func(r *rig) uint32 {
			i, _ := r.packetOf(tcp4Kind(), 100, 50, 100, 100, 100)
			return i
		},
		"linearized": func(r *rig) uint32 { i, _ := r.blank(40, 30); return i },
	}
	for name, packetOf := range build {
		for _, way := range []Copybreak{{}, {Way: Linearize, Bytes: 75}, {Way: Premapped}} {
			for _, mode := range []dma.Mode{dma.Strict, dma.Lazy, dma.Bounce} {
				for free := range 5 {
					mapFails(t, name, packetOf, way, mode, free)
				}
			}
		}
	}
}

// mapFails leaves addresses for so many pieces.
func mapFails(t *testing.T, name string, packetOf func(*rig) uint32, way Copybreak,
	mode dma.Mode, free int) {
	const some = 1 << 20
	r := newRig(t, Config{Copybreak: way}, dma.Config{
		Mode: mode, AddressBytes: some, BounceBytes: some, Poison: true,
	})
	first := [][]byte{r.add(66, 100)}
	r.q.Post(r.batch) // not rung
	var taken []uint64
	for {
		iova, err := r.dom.MapRange(r.pages[rigPages-1], 0, 64, dma.ToDevice)
		if err != nil {
			break
		}
		taken = append(taken, iova)
	}
	for range free {
		r.dom.Unmap(taken[len(taken)-1])
		taken = taken[:len(taken)-1]
	}
	r.reap()
	before, home := r.dom.Stats(), r.home
	i := packetOf(r)
	frames := r.wire(r.slab.At(i))
	r.put(i)
	r.q.Post(r.batch)
	failed := r.q.count.drops[packet.DropMapFailed] == 1
	if failed {
		if r.home != home+1 {
			t.Errorf("%s: %d came home", name, r.home-home)
		}
		if r.dev.step(99) == 0 {
			t.Errorf("%s: the packet before it waits for a doorbell", name)
		}
		frames = nil
	}
	r.law()
	r.turn()
	if s := r.dom.Stats(); failed != (s.Refused > before.Refused) ||
		s.Maps-before.Maps != s.Unmaps-before.Unmaps-2+boolTo(way.Way == Premapped) {
		t.Errorf("%s, %v, %v, %d free: failed %v, %+v behind %+v",
			name, way, mode, free, failed, s, before)
	}
	for _, iova := range taken {
		r.dom.Unmap(iova)
	}
	want := append(append(first, frames...), r.add(60, 100))
	r.turn()
	r.same(name, want)
	r.close()
}

func boolTo(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}

// Ways change between packets in flight; what each holds comes home.
func TestCopybreakInFlight(t *testing.T) {
	for _, d := range modes {
		r := newRig(t, Config{BufBytes: 2048}, d)
		var want [][]byte
		for range 20 {
			for _, c := range copybreaks {
				if err := r.q.SetCopybreak(c); err != nil {
					t.Fatal(err)
				}
				want = append(want, r.add(66, 100), r.add(60), r.add(14, 500, 400))
				r.q.Post(r.batch)
				r.law()
			}
			r.dev.step(7)
			r.reap()
		}
		r.turn()
		r.same(d.Mode.String(), want)
		if s := r.q.Stats(); s.Ways[Inline].Packets == 0 || s.Ways[Premapped].Packets == 0 ||
			s.Ways[Linearize].Packets == 0 || s.Ways[Mapped].Packets == 0 ||
			s.Headers.Packets == 0 {
			t.Errorf("%v: %+v", d.Mode, s)
		}
		r.close()
	}
}
