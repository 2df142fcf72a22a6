package rx

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/packet"
)

// A session expands mini completions: each is written into a private copy of
// their title and accepted as if it were a plain one.
type session struct {
	title   desc.CQE
	minis   desc.CQE    // the array in use
	opcode  desc.Opcode // of the title
	titled  bool        // enhanced: there is a title
	counter uint16      // cyclic: WQE of the next mini
	left    int         // basic: minis to come
	next    int         // basic: number of the next mini
}

// harvestBasic takes plain completions and sessions of the basic layout
// (facts/mlx5e.md 2.4). A session may be left in the middle.
func harvestBasic(q *Queue, b *packet.Batch, budget int) (n int) {
	for n < budget {
		if q.session.left > 0 {
			n += q.expand(b, budget-n)
			continue
		}
		c := q.cq.At(q.cc)
		w := c.Own()
		if !w.ReadyIn(q.cq.Lap(q.cc)) {
			break
		}
		if w.Format() == desc.FormatCompressed && q.opens(c, w) {
			continue
		}
		q.cc++
		n++
		if w.Format() == desc.FormatCompressed {
			q.bad()
			continue
		}
		q.accept(q, c, w, b)
	}
	return n
}

// opens starts the session of a title; false when it counts nonsense.
func (q *Queue) opens(title *desc.CQE, w desc.OwnWord) bool {
	n := title.ByteCount()
	if n < 1 || uint64(n) > uint64(len(q.cq.Entries)) {
		return false
	}
	q.session = session{
		title: *title, opcode: w.Opcode(), counter: w.WQECounter(), left: int(n),
	}
	q.count.compressBlks++
	return true
}

// expand accepts up to most minis of the open session. Array 0 lies behind the
// title, array k where mini 8k is counted.
func (q *Queue) expand(b *packet.Batch, most int) int {
	s := &q.session
	first, n := q.cc, min(s.left, most)
	for range n {
		k := s.next % desc.MinisPerSlot
		switch {
		case s.next == 0:
			s.minis = *q.cq.At(q.cc + 1)
		case k == 0:
			s.minis = *q.cq.At(q.cc)
		}
		s.next++
		q.cc++
		q.mini(s.minis.Mini(k), b)
	}
	q.cq.Consumed(first, n)
	s.left -= n
	return n
}

// harvestEnhanced takes plain completions and mini arrays of the enhanced
// layout (facts/mlx5e.md 2.5). An array is never split: if the budget does not
// reach, all of it is reported as used, and the array waits. With nothing
// taken before it, it is taken anyway when b has room, or a small budget would
// wait for ever.
func harvestEnhanced(q *Queue, b *packet.Batch, budget int) (n int) {
	s := &q.session
	var last *desc.CQE // the next title, still in the ring
	var own desc.OwnWord
	for n < budget {
		c := q.cq.At(q.cc)
		w := c.Own()
		if !w.ValidIn(q.cq.Lap(q.cc)) {
			break
		}
		if w.Format() != desc.FormatCompressed {
			last, own = c, w
			q.cc++
			n++
			q.accept(q, c, w, b)
			continue
		}
		if last != nil {
			s.entitle(last, own)
			last = nil
		}
		k := w.Minis()
		switch {
		case !s.titled || k > desc.MaxMinis:
			q.cc++
			n++
			q.bad()
		case k > budget-n && (n > 0 || k > b.Room()):
			return budget
		default:
			q.array(c, k, b)
			n += k
		}
	}
	if last != nil {
		s.entitle(last, own) // the next poll may begin with minis
	}
	return min(n, budget)
}

// entitle makes a plain completion the title of the minis behind it. Its own
// frame is delivered already.
func (s *session) entitle(c *desc.CQE, w desc.OwnWord) {
	s.title, s.opcode, s.counter, s.titled = *c, w.Opcode(), w.WQECounter()+1, true
}

// array accepts the n minis of one entry.
func (q *Queue) array(c *desc.CQE, n int, b *packet.Batch) {
	q.session.minis = *c
	q.count.compressBlks++
	for k := range n {
		q.cc++
		q.mini(q.session.minis.Mini(k), b)
	}
}

// mini accepts one mini completion.
func (q *Queue) mini(m *desc.MiniCQE, b *packet.Batch) {
	s := &q.session
	s.title.SetByteCount(m.ByteCount())
	s.title.SetCheckSum(m.CheckSum())
	counter := s.counter
	if q.cq.MiniFormat.HasStride() {
		counter = m.Stride()
	}
	s.counter++
	q.count.compressPkts++
	q.accept(q, &s.title, desc.PackOwn(counter, s.opcode, desc.FormatPlain, 0), b)
}
