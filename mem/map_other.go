//go:build !linux

package mem

// allocate uses the heap: mapping is written for Linux only.
func (r *Region) allocate(n int) error {
	r.heap(n)
	return nil
}
