package tx

import (
	"fmt"

	"github.com/millrace-net/millrace/mem"
)

// linear is memory that packets are linearized into: what an allocator is for
// the patch of facts/mlx5e.md 7.8. It is opened when the way is first chosen,
// and kept.
type linear struct {
	on     bool      // the way in force
	free   []mem.Ref // last freed first
	out    []mem.Ref // with the device, in order
	region *mem.Region
}

func (l *linear) open(blocks uint32, kind mem.Kind) (err error) {
	if l.region != nil {
		return nil
	}
	l.region, err = mem.Open(mem.Config{PageBytes: linearBytes, Pages: int(blocks), Kind: kind})
	if err != nil {
		return fmt.Errorf("tx: memory to linearize packets into: %w", err)
	}
	l.free, l.out = make([]mem.Ref, blocks), make([]mem.Ref, blocks)
	l.region.Alloc(l.free)
	return nil
}

func (l *linear) close() error {
	if l.region == nil {
		return nil
	}
	return l.region.Close()
}

// short says that a packet that is to be linearized would find no memory.
func (l *linear) short() bool { return l.on && len(l.free) == 0 }

// take takes the page that was freed last; short has said that there is one.
func (l *linear) take() mem.Ref {
	page := l.free[len(l.free)-1]
	l.free = l.free[:len(l.free)-1]
	return page
}

// give takes a page back that was not sent.
func (l *linear) give(page mem.Ref) { l.free = append(l.free, page) }
