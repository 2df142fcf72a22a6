package tx

import (
	"bytes"
	"math/rand/v2"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/packet"
)

// Random packets, ways and offloads; doorbells, completions and reaps at any
// time; map failures, errors and lies. After each step the law holds; at the
// end everything is home, what was mapped is unmapped, no frame was sent twice
// or out of order, and if nothing went wrong all were sent.
func TestSimulation(t *testing.T) {
	seed := testenv.Seed(t)
	for i := range testenv.Seeds(60) {
		s := seed + uint64(i)
		simulate(t, s)
		if t.Failed() {
			t.Fatalf("SEED=%d", s)
		}
	}
}

// A simulation is a rig with what is expected on the wire.
type simulation struct {
	*rig
	rng    *rand.Rand
	want   [][]byte // frames of all packets posted, in order
	honest bool     // the device does what it is told
	short  bool     // addresses run out
	taken  []uint64 // addresses that somebody else has
}

func simulate(t *testing.T, seed uint64) {
	rng := testenv.Rand(seed, 0)
	s := &simulation{rng: rng, honest: rng.IntN(2) == 0, short: rng.IntN(3) == 0}
	d := modes[rng.IntN(len(modes))]
	d.AddressBytes, d.BounceBytes = 2<<20, 2<<20
	cfg := Config{
		Blocks: 64 << rng.IntN(3), BufBytes: 64 << rng.IntN(6), MTU: 1600,
		Without: Offload(rng.IntN(int(allOffloads)+1)) * Offload(rng.IntN(2)),
	}
	if rng.IntN(4) == 0 {
		cfg.MinInline = desc.MinInline(rng.IntN(4))
	}
	if rng.IntN(4) == 0 {
		cfg.LimitBytes = 1 + rng.IntN(20000)
	}
	s.rig = newRig(t, cfg, d)
	// The counters of blocks and the lists wrap at 2^16 and 2^32.
	start := uint32(rng.Uint64())
	s.q.head = position{
		bytes: uint64(start), packets: start, maps: start, held: start, bufs: start, pages: start,
	}
	s.q.tail = s.q.head
	for range 150 {
		s.step()
		s.law()
		if t.Failed() {
			return
		}
	}
	s.finish()
}

func (s *simulation) step() {
	switch s.rng.IntN(12) {
	case 0, 1, 2:
		for range 1 + s.rng.IntN(20) {
			if s.slab.Cap()-s.slab.InUse() > 40 {
				s.packet()
			}
		}
	case 3, 4:
		s.q.Post(s.batch)
	case 5:
		s.q.Flush()
	case 6, 7:
		s.device(s.rng.IntN(20))
	case 8, 9:
		s.now += int64(s.rng.IntN(1000))
		s.q.Reap(s.now)
	case 10:
		c := Copybreak{Way: Way(s.rng.IntN(int(numWays)))}
		if most, _ := s.q.copyMax(c.Way); most > 0 {
			c.Bytes = s.rng.IntN(most + 1)
		}
		if err := s.q.SetCopybreak(c); err != nil {
			s.t.Errorf("%v: %v", c, err)
		}
	case 11:
		s.trouble()
	}
}

// packet puts one of any sort into the batch.
func (s *simulation) packet() {
	i, p := uint32(0), (*packet.Packet)(nil)
	frags := make([]int, s.rng.IntN(5)*s.rng.IntN(4))
	for k := range frags {
		frags[k] = 1 + s.rng.IntN(100)
	}
	k := kinds()[s.rng.IntN(len(kinds()))]
	switch s.rng.IntN(6) {
	case 0, 1:
		i, p = s.blank(14+s.rng.IntN(200), frags...)
	case 2:
		i, p = s.packetOf(k, 0, s.rng.IntN(200), frags...)
	case 3:
		if len(frags) == 0 {
			frags = []int{50}
		}
		for j := range frags {
			frags[j] *= 20
		}
		size := 30 + s.rng.IntN(1300)
		if k.gso.Type == packet.GSOUDP {
			size = max(size, 300)
		}
		i, p = s.packetOf(k, size, s.rng.IntN(200), frags...)
	case 4:
		i, p = s.chained(k, 300+s.rng.IntN(1000), 1+s.rng.IntN(100), 100, 1+s.rng.IntN(900))
	case 5:
		i, p = s.blank(14 + s.rng.IntN(1500))
	}
	if s.rng.IntN(6) == 0 {
		p.TagType = [...]uint16{0x8100, 0x88a8, 0x9100}[s.rng.IntN(3)]
		p.TagTCI = uint16(s.rng.Uint32())
	}
	s.want = append(s.want, s.wire(p)...)
	s.put(i)
}

// device does some WQEs; it may keep the completion for later.
func (s *simulation) device(n int) {
	s.dev.mute = s.rng.IntN(3) == 0
	s.dev.step(n)
	if s.rng.IntN(2) == 0 {
		s.dev.pay()
	}
}

// trouble is what should not happen.
func (s *simulation) trouble() {
	if s.short {
		for range s.rng.IntN(600) {
			if iova, err := s.dom.MapRange(s.pages[rigPages-1], 0, 4096, dma.ToDevice); err == nil {
				s.taken = append(s.taken, iova)
			}
		}
		if s.rng.IntN(3) == 0 {
			s.release()
		}
	}
	if s.honest || s.rng.IntN(3) > 0 {
		return
	}
	switch s.rng.IntN(4) {
	case 0:
		s.dev.complete(uint16(s.rng.Uint32()), desc.Opcode(s.rng.IntN(16)))
		s.q.SQ().Modify(desc.Ready, desc.Error) // it reads no more what is said to be done
	case 1:
		s.dev.complete(s.dev.taken, desc.OpReqErr)
		s.q.SQ().Modify(desc.Ready, desc.Error)
	case 2:
		s.q.SQ().Modify(desc.Ready, desc.Error)
	case 3:
		s.now += 6e9
		s.q.Reap(s.now)
		s.now += 6e9
		s.q.Reap(s.now)
	}
}

func (s *simulation) release() {
	for _, iova := range s.taken {
		s.dom.Unmap(iova)
	}
	s.taken = nil
}

// finish ends the run in order, or in the middle of it, and looks at what left.
func (s *simulation) finish() {
	s.release()
	inOrder := s.rng.IntN(3) > 0
	if inOrder {
		s.dev.pay()
		s.dev.mute = false
		if !s.honest {
			s.q.SQ().Modify(desc.Ready, desc.Error) // whatever was completed in error
			s.reap()
		}
		s.turn()
	}
	st := &s.q.count
	if s.honest && st.lost != 0 || s.honest && s.q.ring.Stats().Recover != 0 {
		s.t.Errorf("honest, but %d are lost in %d restarts", st.lost, s.q.ring.Stats().Recover)
	}
	whole := inOrder && s.honest && st.drops == [packet.NumDrops]uint64{}
	if whole && len(s.dev.sent) != len(s.want) {
		s.t.Errorf("%d frames left, want %d", len(s.dev.sent), len(s.want))
	}
	for reason, n := range st.drops {
		if n > 0 && (packet.Drop(reason) != packet.DropMapFailed || !s.short) {
			s.t.Errorf("%d dropped: %v", n, packet.Drop(reason))
		}
	}
	at := 0
	for k, b := range s.dev.sent {
		for at < len(s.want) && !bytes.Equal(s.want[at], b) {
			at++
		}
		if at == len(s.want) {
			s.t.Errorf("frame %d of %d bytes that left is not one that was posted, or too late",
				k, len(b))
			break
		}
		at++
	}
	s.close()
}
