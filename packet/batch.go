package packet

// A Batch carries packets of one slab from stage to stage. It belongs to the
// goroutine of the queue.
type Batch struct {
	slab    *Slab
	indices []uint32
	n       int
}

// NewBatch makes an empty batch with room for n packets of s.
func NewBatch(s *Slab, n int) *Batch { return &Batch{slab: s, indices: make([]uint32, n)} }

// Len is the number of packets in the batch.
func (b *Batch) Len() int { return b.n }

// Room is the number of packets that still fit.
func (b *Batch) Room() int { return len(b.indices) - b.n }

// Slab is where the packets lie.
func (b *Batch) Slab() *Slab { return b.slab }

// Add puts packet i of the slab at the end; the batch takes it. There must be
// room.
func (b *Batch) Add(i uint32) {
	b.indices[b.n] = i
	b.n++
}

// RemoveFront takes the first n packets out of the batch; the others move up.
// Who calls it has given them on.
func (b *Batch) RemoveFront(n int) {
	copy(b.indices, b.indices[n:b.n])
	b.n -= n
}

// Reset empties the batch. Who calls it has given the packets on.
func (b *Batch) Reset() { b.n = 0 }

// Index is the slab index of the packet at place i.
func (b *Batch) Index(i int) uint32 { return b.indices[:b.n][i] }

// At is the packet at place i, lent while it is in the batch.
func (b *Batch) At(i int) *Packet { return b.slab.At(b.indices[:b.n][i]) }

// Head is the linear part of packet i, lent while it is in the batch.
func (b *Batch) Head(i int) []byte { return b.At(i).Bytes() }

// NumFrags is the number of fragments of packet i, chained packets not
// counted.
func (b *Batch) NumFrags(i int) int { return int(b.At(i).Shared().NumFrags) }

// Frag is fragment k of packet i, lent while it is in the batch.
func (b *Batch) Frag(i, k int) []byte {
	s := b.At(i).Shared()
	return s.Frags[:s.NumFrags][k].Bytes()
}

// Give moves the packets that are not marked with Drop to the end of to, which
// is of the same slab and has the room. b keeps the others.
func (b *Batch) Give(to *Batch) {
	kept := 0
	for _, i := range b.indices[:b.n] {
		if b.slab.At(i).Drop == DropNone {
			to.Add(i)
			continue
		}
		b.indices[kept] = i
		kept++
	}
	b.n = kept
}

// Drop marks packet i: it goes no further than the stage that holds it, and
// is counted under reason.
func (b *Batch) Drop(i int, reason Drop) { b.At(i).Drop = reason }
