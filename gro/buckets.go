package gro

// A table is all held packets. Slot 0 is the head of the list in order of
// arrival.
type table struct {
	buckets []bucket
	mask    uint64
	slots   []held
	free    []uint16
	held    int
	tick    int64 // time by which packets are born
}

// A bucket names its held packets, oldest first, by their place in table.slots.
// Hashes lie apart from the records, so that a look into the bucket is one cache
// line or two. Empty places name slot 0, which nothing is merged into.
type bucket struct {
	hash  [bucketDepth]uint32
	entry [bucketDepth]uint16
	n     uint32
}

func (t *table) open(buckets int) {
	t.buckets, t.mask = make([]bucket, buckets), uint64(buckets-1)
	t.slots = make([]held, 1)
	t.slots[0].plain = notPlain
}

// first returns the slot of the first packet in the bucket with the short hash,
// or 0, which is no packet.
func (b *bucket) first(hash uint64) uint16 {
	if short := uint32(hash >> 32); b.hash[0] != short {
		return b.search(short)
	}
	return b.entry[0] // the oldest of one, mostly
}

func (b *bucket) search(short uint32) uint16 {
	for i := range min(b.n, bucketDepth) {
		if b.hash[i] == short {
			return b.entry[i]
		}
	}
	return 0
}

// find returns the slot of the flow of s, 0 when none is held.
func (t *table) find(s *segment, hash uint64) uint16 {
	b := &t.buckets[hash&t.mask]
	short := uint32(hash >> 32)
	for i := range min(b.n, bucketDepth) {
		if b.hash[i] == short && t.slots[b.entry[i]].hasFlow(s) {
			return b.entry[i]
		}
	}
	return 0
}

// oldest returns the slot that must go before another packet fits into the
// bucket, 0 while there is room.
func (t *table) oldest(hash uint64) uint16 {
	if b := &t.buckets[hash&t.mask]; b.n == bucketDepth {
		return b.entry[0]
	}
	return 0
}

// add takes a slot in the bucket of the hash, which must have room, and puts
// it last in the order of arrival.
func (t *table) add(hash uint64) uint16 {
	if len(t.free) == 0 {
		t.grow()
	}
	i := t.free[len(t.free)-1]
	t.free = t.free[:len(t.free)-1]
	b := &t.buckets[hash&t.mask]
	b.hash[b.n], b.entry[b.n] = uint32(hash>>32), i
	b.n++
	e, last := &t.slots[i], t.slots[0].prev
	e.bucket, e.born = uint16(hash&t.mask), t.tick
	e.prev, e.next = last, 0
	t.slots[last].next, t.slots[0].prev = i, i
	t.held++
	return i
}

// grow doubles the slots. It ends at what the buckets hold, so a running table
// soon allocates nothing.
func (t *table) grow() {
	have := len(t.slots)
	more := make([]held, min(max(2*have, 64), bucketDepth*len(t.buckets)+1))
	copy(more, t.slots)
	t.slots = more
	for i := len(more) - 1; i >= have; i-- {
		t.free = append(t.free, uint16(i))
	}
}

// remove gives a slot back.
func (t *table) remove(i uint16) {
	e := &t.slots[i]
	t.slots[e.prev].next, t.slots[e.next].prev = e.next, e.prev
	b := &t.buckets[e.bucket]
	k := uint32(0)
	for b.entry[k] != i {
		k++
	}
	for b.n--; k < b.n; k++ {
		b.hash[k], b.entry[k] = b.hash[k+1], b.entry[k+1]
	}
	b.hash[k], b.entry[k] = 0, 0
	e.frags = nil
	t.free = append(t.free, i)
	t.held--
}
