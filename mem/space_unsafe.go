package mem

import (
	"sync"
	"unsafe"
)

// A space is what a Ref needs to reach its page, one for each region number.
type space struct {
	base      unsafe.Pointer
	meta      unsafe.Pointer
	pageBytes uint32
	pages     uint32
}

var (
	spaces   [maxRegions]space
	spacesMu sync.Mutex
)

// register gives the region a number. The pointers stay good until Close
// takes the number back: the region holds both slices.
func (r *Region) register() error {
	spacesMu.Lock()
	defer spacesMu.Unlock()
	for id := 1; id < maxRegions; id++ {
		if spaces[id].base == nil {
			r.id = uint8(id)
			spaces[id] = space{
				base: unsafe.Pointer(&r.bytes[0]), meta: unsafe.Pointer(&r.meta[0]),
				pageBytes: uint32(r.cfg.PageBytes), pages: uint32(r.cfg.Pages),
			}
			return nil
		}
	}
	return ErrTooManyRegions
}
