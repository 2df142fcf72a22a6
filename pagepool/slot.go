package pagepool

import (
	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/mem"
)

// A Slot is a place for a page in the hands of its owner, who counts here how
// many references it has handed out, without touching the page's record.
type Slot struct {
	Page  mem.Ref // None: the slot is empty
	Given uint32  // references handed out
	IOVA  uint64
}

// PutSlots puts the references on the pages in slots that were not handed out,
// and empties the slots.
func (p *Pool) PutSlots(slots []Slot) {
	for i := range slots {
		if s := &slots[i]; s.Page != mem.None {
			p.Put(s.Page, Bias-int32(s.Given))
			*s = Slot{}
		}
	}
}

// Renew is PutSlots, but a page whose references are then all home stays in its
// slot, with all of them, as if Alloc had given it again: the way through the
// cache is saved, and counted as if it had been taken. It reports how many slots
// are empty. Budget: 3 ns a page.
func (p *Pool) Renew(slots []Slot) (empty int) {
	for i := range slots {
		s := &slots[i]
		if s.Page == mem.None {
			empty++
			continue
		}
		n, m := Bias-int32(s.Given), s.Page.Meta()
		if check.On {
			p.givers.note(s.Page)
		}
		switch {
		case !isOut(m, p.owner, n):
			p.odd(s.Page, n)
		case m.Refs > n:
			m.Refs -= n
		default:
			p.clean(s.Page, m)
			m.Refs, s.Given = Bias, 0
			continue
		}
		*s = Slot{}
		empty++
	}
	kept := uint64(len(slots) - empty)
	p.stats.RecycleCached += kept
	p.stats.AllocFast += kept
	return empty
}
