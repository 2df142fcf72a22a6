package xdp

// AdjustTail moves the end of the frame by delta bytes. Above 0 the frame grows
// by zeroes, below 0 fragments that become empty are freed. It reports false,
// and changes nothing, when there is not the room behind the last byte or less
// than MinFrame bytes would be left (bpf_xdp_adjust_tail).
func (b *Buff) AdjustTail(delta int) bool {
	b.Lay()
	switch {
	case delta <= 0:
		return b.shrink(delta)
	case b.n > 0:
		return b.growFrag(delta)
	case delta > int(b.limit)-int(b.end):
		return false
	}
	clear(b.page.Bytes(b.base+b.end, uint32(delta)))
	b.end += uint32(delta)
	return true
}

// growFrag grows the last fragment inside its buffer. The room is signed: a
// fragment may be longer than the buffer it is said to lie in (facts/mlx5e.md
// 12, bug 48).
func (b *Buff) growFrag(delta int) bool {
	f, size := &b.Frags()[b.n-1], b.traits.FragBytes
	if size == 0 || delta > size-int(f.Len)-int(f.Off)%size {
		return false
	}
	clear(f.Ref.Bytes(f.Off+f.Len, uint32(delta)))
	f.Len += uint32(delta)
	b.paged += uint32(delta)
	return true
}

// shrink takes -delta bytes off the end, of the fragments first.
func (b *Buff) shrink(delta int) bool {
	if b.Len()+delta < MinFrame {
		return false
	}
	left := uint32(-delta)
	for left > 0 && b.n > 0 {
		f := &b.Frags()[b.n-1]
		n := min(left, f.Len)
		f.Len -= n
		b.paged -= n
		left -= n
		if f.Len == 0 {
			b.free(f.Ref)
			b.n--
		}
	}
	b.end -= left
	return true
}
