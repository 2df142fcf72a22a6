package xdp

import "github.com/millrace-net/millrace/packet"

// PullData makes the first n bytes of the frame linear, with bytes of the
// fragments copied; fragments that become empty are freed. Metadata and linear
// part move into the headroom if the tailroom does not do. It reports false, and
// changes nothing, when the frame is shorter or there is not the room
// (bpf_xdp_pull_data).
func (b *Buff) PullData(n int) bool {
	b.Lay()
	delta := n - int(b.end-b.data)
	if n < 0 || delta <= 0 {
		return n >= 0
	}
	shift := delta - int(b.limit-b.end)
	if delta > int(b.paged) || shift > int(b.meta)-recordBytes {
		return false
	}
	if shift > 0 {
		b.move(uint32(shift))
	}
	b.load(int(b.end-b.data), b.page.Bytes(b.base+b.end, uint32(delta)))
	b.end += uint32(delta)
	b.Cut(uint32(delta))
	return true
}

// move shifts metadata and linear part n bytes to the front.
func (b *Buff) move(n uint32) {
	bytes := b.page.Bytes(b.base+b.meta-n, b.end-b.meta+n)
	copy(bytes, bytes[n:])
	b.meta, b.data, b.end = b.meta-n, b.data-n, b.end-n
}

// Load copies the bytes from off on into p. It reports false, and copies
// nothing, when they do not all lie in the frame (bpf_xdp_load_bytes).
func (b *Buff) Load(off int, p []byte) bool {
	if !b.holds(off, len(p)) {
		return false
	}
	b.Lay()
	b.load(off, p)
	return true
}

// Store copies p over the bytes from off on. It reports false, and copies
// nothing, when they do not all lie in the frame (bpf_xdp_store_bytes).
func (b *Buff) Store(off int, p []byte) bool {
	if !b.holds(off, len(p)) {
		return false
	}
	b.Lay()
	for i := 0; len(p) > 0; i++ {
		piece := b.piece(i).Bytes()
		if off >= len(piece) {
			off -= len(piece)
			continue
		}
		p = p[copy(piece[off:], p):]
		off = 0
	}
	return true
}

func (b *Buff) holds(off, n int) bool {
	b.looked = true
	return off >= 0 && off <= b.Len() && n <= b.Len()-off
}

func (b *Buff) load(off int, p []byte) {
	for i := 0; len(p) > 0; i++ {
		piece := b.piece(i).Bytes()
		if off >= len(piece) {
			off -= len(piece)
			continue
		}
		p = p[copy(p, piece[off:]):]
		off = 0
	}
}

// piece is the linear part, number 0, or a fragment.
func (b *Buff) piece(i int) packet.Frag {
	if i == 0 {
		return b.Head()
	}
	return b.Frags()[i-1]
}
