package dma

import "github.com/millrace-net/millrace/mem"

// offBits leaves room for the offset in a passthrough address: the Ref stands
// above it, so an access that runs over the end of a page meets no other one.
const offBits = 20

func identity(page mem.Ref) uint64 { return uint64(page) << offBits }

// place takes a passthrough address apart; false when no page can have it.
func place(iova uint64) (page mem.Ref, off uint32, ok bool) {
	return mem.Ref(iova >> offBits), uint32(iova & (1<<offBits - 1)), iova>>offBits>>32 == 0
}

// Reach is the device's way to memory: it lends the n bytes at iova until
// they are unmapped. It reports false, and counts a fault, when they do not
// all lie in one mapped page, or the mapping does not allow what the device is
// about to do: write says which. Budget: 7 ns in Passthrough, 30 ns with an
// IOTLB that knows the address.
func (d *Domain) Reach(iova uint64, n uint32, write bool) ([]byte, bool) {
	dir := ToDevice
	if write {
		dir = FromDevice
	}
	switch d.mode {
	case Passthrough:
		if page, off, ok := place(iova); ok && page.Holds(off, n) {
			return page.Bytes(off, n), true
		}
	case Bounce:
		if s, off := d.slots.locate(iova, n, dir); s != nil {
			return s.bytes[off : off+n : off+n], true
		}
	default:
		if b, ok := d.iommu.reach(iova, n, dir); ok {
			return b, true
		}
	}
	d.fault(write)
	return nil, false
}

func (d *Domain) fault(write bool) {
	if write {
		d.count.writeFaults.Add(1)
	} else {
		d.count.readFaults.Add(1)
	}
}
