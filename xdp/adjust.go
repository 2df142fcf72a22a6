package xdp

const maxMeta = 252 // bytes of metadata, a multiple of 4

// AdjustHead moves the front of the linear part by delta bytes: below 0 the
// frame grows into the headroom, and the program writes what is new. Metadata
// moves with it. It reports false, and changes nothing, when there is not the
// room or the linear part would keep less than MinFrame bytes. Where that is
// empty, the front only moves forward to the front, by MinFrame bytes at least
// (bpf_xdp_adjust_head).
func (b *Buff) AdjustHead(delta int) bool {
	meta := int(b.data - b.meta)
	data := int(b.data) + delta
	if data < recordBytes+meta || data > int(b.end)-MinFrame {
		return false
	}
	if meta > 0 {
		to := uint32(data - meta)
		copy(b.page.Bytes(b.base+to, uint32(meta)), b.Meta())
	}
	b.meta, b.data = uint32(data-meta), uint32(data)
	return true
}

// AdjustMeta moves the front of the metadata by delta bytes: below 0 it grows.
// It reports false, and changes nothing, unless what is left is a multiple of 4
// from 0 to 252 bytes and fits the headroom (bpf_xdp_adjust_meta).
func (b *Buff) AdjustMeta(delta int) bool {
	meta := int(b.meta) + delta
	n := int(b.data) - meta
	if meta < recordBytes || n < 0 || n > maxMeta || n%4 != 0 {
		return false
	}
	b.meta = uint32(meta)
	return true
}
