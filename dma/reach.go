package dma

import "github.com/millrace-net/millrace/mem"

// offBits leaves room for the offset in an identity address: the Ref stands
// above it, so an access that runs over the end of a page meets no other one.
const offBits = 20

func identity(page mem.Ref) uint64 { return uint64(page) << offBits }

// place takes an identity address apart; false when no page can have it.
func place(iova uint64) (page mem.Ref, off uint32, ok bool) {
	return mem.Ref(iova >> offBits), uint32(iova & (1<<offBits - 1)), iova>>offBits>>32 == 0
}

// Reach is the device's way to memory: it lends the n bytes at iova until
// their page is unmapped. It reports false, and counts a fault, when they do
// not all lie in one mapped page. write says what the device is about to do;
// every mapping allows both. Budget: 4 ns with Identity.
func (d *Domain) Reach(iova uint64, n uint32, write bool) ([]byte, bool) {
	if d.table == nil {
		if page, off, ok := place(iova); ok && page.Holds(off, n) {
			return page.Bytes(off, n), true
		}
	} else if f, off := d.table.locate(iova, n); f != nil {
		return f.shadow[off : off+n : off+n], true
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
