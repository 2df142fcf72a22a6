package dma

import (
	"fmt"
	"math/bits"
	"sync"
	"sync/atomic"

	"github.com/millrace-net/millrace/mem"
)

// A slot holds at most 256 KiB (IO_TLB_SEGSIZE); all of them together hold
// 64 MiB, if nothing else is said (IO_TLB_DEFAULT_SIZE).
const (
	slotClasses    = 7 // 1, 2, 4, ... 64 granules
	defaultBounce  = 64 << 20
	maxBounceBytes = granule << (slotClasses - 1)
)

// A slots is the bounce memory: slots of powers of two, made when first
// needed and reused from then on. A slot is never cut for a smaller range.
type slots struct {
	table  table[atomic.Pointer[slot]]
	poison bool

	mu    sync.Mutex
	free  [slotClasses][]*slot
	gaps  [slotClasses][]uint64 // addresses of coherent memory that is unmapped
	next  uint64                // first address never used
	bytes int                   // that may still be made
}

func newSlots(cfg Config) *slots {
	p := &slots{poison: cfg.Poison, next: firstIOVA, bytes: cfg.BounceBytes}
	if p.bytes <= 0 {
		p.bytes = defaultBounce
	}
	return p
}

// take finds or makes a slot for n bytes.
func (p *slots) take(n uint32) (*slot, error) {
	class := bits.Len32((n - 1) / granule)
	size := uint64(granule) << class
	p.mu.Lock()
	defer p.mu.Unlock()
	if list := p.free[class]; len(list) > 0 {
		s := list[len(list)-1]
		p.free[class] = list[:len(list)-1]
		return s, nil
	}
	if uint64(p.bytes) < size {
		return nil, ErrNoSlot
	}
	iova, err := p.address(size)
	if err != nil {
		return nil, err
	}
	p.bytes -= int(size)
	s := &slot{iova: iova, bytes: make([]byte, size)}
	if p.poison {
		s.synced = make([]uint64, size/64)
	}
	p.enter(s, size)
	return s, nil
}

// address takes addresses that were never used, a power of two of them.
func (p *slots) address(size uint64) (iova uint64, err error) {
	iova = (p.next + size - 1) &^ (size - 1)
	if iova+size > lastIOVA {
		return 0, ErrNoSlot
	}
	p.next = iova + size
	return iova, nil
}

// enter lets the device find the slot.
func (p *slots) enter(s *slot, size uint64) {
	for at := s.iova; at < s.iova+size; at += granule {
		p.table.at(at).Store(s)
	}
}

func (p *slots) put(s *slot) {
	class := bits.Len(uint(len(s.bytes)-1) / granule)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.free[class] = append(p.free[class], s)
}

// lend gives the device a slot with the range's bytes: also if it will only
// write, for what it does not write comes back, too.
func (m *Mapper) lend(page mem.Ref, off, n uint32, dir Dir, held bool) (uint64, error) {
	if n > maxBounceBytes {
		return 0, fmt.Errorf("dma: map %d bytes: a bounce slot holds at most %d",
			n, maxBounceBytes)
	}
	s, err := m.d.slots.take(n)
	if err != nil {
		return 0, err
	}
	s.page, s.off, s.n, s.dir, s.held = page, off, n, dir, held
	s.give(0, n)
	m.count.bounced(n)
	s.open.Store(uint64(n)<<2 | uint64(dir))
	return s.iova, nil
}

// recall ends the device's use of a slot.
func (m *Mapper) recall(iova uint64) bool {
	s := m.d.slots.find(iova)
	if s == nil || s.iova != iova {
		return false
	}
	open := s.open.Load()
	if open == 0 || !s.open.CompareAndSwap(open, 0) { // of two who unmap, one is at fault
		return false
	}
	switch {
	case s.coherent:
		m.d.slots.unshare(s)
		return true
	case s.held:
	case s.dir&FromDevice != 0 && s.page.Holds(s.off, s.n):
		s.take(0, s.n)
		m.count.bounced(s.n)
	case s.changed():
		m.d.count.unsyncedWrites.Add(1)
	}
	m.d.slots.put(s)
	return true
}

func (p *slots) find(iova uint64) *slot {
	if entry := p.table.find(iova); entry != nil {
		return entry.Load()
	}
	return nil
}

// locate finds the slot that holds all n bytes at iova, and where in it, if
// its mapping has dir.
func (p *slots) locate(iova uint64, n uint32, dir Dir) (s *slot, off uint32) {
	if s = p.find(iova); s == nil {
		return nil, 0
	}
	open := s.open.Load()
	if Dir(open)&Both&dir == 0 || iova-s.iova+uint64(n) > open>>2 {
		return nil, 0
	}
	return s, uint32(iova - s.iova)
}
