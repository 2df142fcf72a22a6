package dma

import (
	"fmt"
	"math/bits"

	"github.com/millrace-net/millrace/mem"
)

// MapCoherent is MapRange for memory that driver and device use in turn for as
// long as it is mapped, such as buffers that belong to a queue: also in Bounce
// the device reaches the bytes themselves, nothing is copied, and Sync has
// nothing to do (dma_alloc_coherent in Linux). There a range has at most 256
// KiB, and takes none of Config.BounceBytes. Unmap ends it.
func (m *Mapper) MapCoherent(page mem.Ref, off, n uint32, dir Dir) (iova uint64, err error) {
	if m.d.mode != Bounce {
		return m.MapRange(page, off, n, dir)
	}
	switch {
	case n == 0 || !page.Holds(off, n) || dir == 0 || dir > Both:
		return 0, rangeError(page, off, n, dir)
	case n > maxBounceBytes:
		err = fmt.Errorf("dma: map %d coherent bytes: at most %d lie together", n, maxBounceBytes)
	default:
		iova, err = m.d.slots.share(page.Bytes(off, n), dir)
	}
	if err != nil {
		m.count.refused++
		return 0, err
	}
	m.count.maps++
	return iova, nil
}

// share makes a slot that is the CPU's bytes.
func (p *slots) share(b []byte, dir Dir) (iova uint64, err error) {
	class := bits.Len32(uint32(len(b)-1) / granule)
	size := uint64(granule) << class
	p.mu.Lock()
	defer p.mu.Unlock()
	if list := p.gaps[class]; len(list) > 0 {
		iova, p.gaps[class] = list[len(list)-1], list[:len(list)-1]
	} else if iova, err = p.address(size); err != nil {
		return 0, err
	}
	s := &slot{iova: iova, bytes: b, dir: dir, coherent: true}
	s.open.Store(uint64(len(b))<<2 | uint64(dir))
	p.enter(s, size)
	return iova, nil
}

// unshare forgets a slot that share made. The addresses are used again.
func (p *slots) unshare(s *slot) {
	class := bits.Len32(uint32(len(s.bytes)-1) / granule)
	p.mu.Lock()
	defer p.mu.Unlock()
	for at := s.iova; at < s.iova+granule<<class; at += granule {
		p.table.at(at).Store(nil)
	}
	p.gaps[class] = append(p.gaps[class], s.iova)
}
