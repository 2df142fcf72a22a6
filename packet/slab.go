package packet

import (
	"fmt"

	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/mem"
)

// A Slab holds the packets of one queue and their small heads. Both are
// reused last in, first out, so that a warm one comes first. It belongs to
// the goroutine of the queue.
type Slab struct {
	packets []Packet
	free    []uint32 // indices of free packets; 0 is never used
	heads   *mem.Region
	small   []mem.Ref // free small heads
	bad     uint64
}

// NewSlab makes a slab of n packets with as many small heads. The caller
// closes it.
func NewSlab(n int, kind mem.Kind) (*Slab, error) {
	if n < 1 || n > 1<<24 {
		return nil, fmt.Errorf("packet: a slab of %d packets, want 1 to %d", n, 1<<24)
	}
	heads, err := mem.Open(mem.Config{PageBytes: headBytes, Pages: n, Kind: kind})
	if err != nil {
		return nil, err
	}
	s := &Slab{packets: make([]Packet, n+1), heads: heads}
	s.free, s.small = make([]uint32, n), make([]mem.Ref, n)
	heads.Alloc(s.small)
	for i := range s.free {
		s.free[i] = uint32(n - i)
	}
	for i := range s.packets {
		s.packets[i].HeadKind = headFree
	}
	return s, nil
}

// Close frees the memory. No packet of the slab may be used afterwards.
func (s *Slab) Close() error { return s.heads.Close() }

// Cap is the number of packets the slab was made for.
func (s *Slab) Cap() int { return len(s.packets) - 1 }

// InUse is the number of packets taken and not freed.
func (s *Slab) InUse() int { return s.Cap() - len(s.free) }

// HeadsInUse is the number of small heads taken and not freed.
func (s *Slab) HeadsInUse() int { return s.Cap() - len(s.small) }

// At is the packet with index i.
func (s *Slab) At(i uint32) *Packet { return &s.packets[i] }

// Get takes a packet; index 0 says that none is free. Its first line is
// whatever the last user left: the caller sets every field of it.
func (s *Slab) Get() uint32 {
	n := len(s.free)
	if n == 0 {
		return 0
	}
	i := s.free[n-1]
	s.free = s.free[:n-1]
	s.packets[i].HeadKind = HeadNone
	return i
}

// GetSmall takes a small head for p, empty, with HeadRoom in front, and
// reports false when none is free.
func (s *Slab) GetSmall(p *Packet) bool {
	n := len(s.small)
	if n == 0 {
		return false
	}
	p.Head, p.Start, p.Data = s.small[n-1], 0, HeadRoom
	p.Linear, p.Room, p.HeadKind = 0, headBytes-SharedBytes, HeadSmall
	p.Truesize = SmallTruesize
	s.small = s.small[:n-1]
	return true
}

// Free takes back packet i and its small head. It does not touch pages, nor
// packets chained to it. A packet that is free already is left alone and
// counted.
func (s *Slab) Free(i uint32) {
	p := &s.packets[i]
	switch p.HeadKind {
	case headFree:
		s.bad++
		if check.On {
			check.That(false, "packet %d freed twice", i)
		}
		return
	case HeadSmall:
		s.FreeSmall(p.Head)
	}
	p.HeadKind = headFree
	s.free = append(s.free, i)
}

// BadFrees is the number of packets that were given back twice: a bug of who
// did it.
func (s *Slab) BadFrees() uint64 { return s.bad }

// FreeSmall takes back a small head that its packet no longer uses.
func (s *Slab) FreeSmall(head mem.Ref) {
	if check.On {
		check.That(head.Region() == s.heads.Ref(0).Region(), "small head of another slab")
		for _, f := range s.small {
			check.That(f != head, "small head %d freed twice", head.Page())
		}
		check.Fill(head.Bytes(0, headBytes))
	}
	s.small = append(s.small, head)
}
