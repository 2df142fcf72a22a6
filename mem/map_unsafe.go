//go:build linux

package mem

import (
	"errors"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

const hugeBytes = 2 << 20

// allocate maps n bytes for pages, and behind them the Meta records.
func (r *Region) allocate(n int) error {
	if r.cfg.Kind == Heap {
		r.heap(n)
		return nil
	}
	pages := (n + 4095) &^ 4095
	b, backing, err := mapBytes(pages + r.cfg.Pages*int(unsafe.Sizeof(Meta{})))
	if err != nil {
		return fmt.Errorf("mem: map %d bytes: %w", n, err)
	}
	r.bytes, r.backing = b[:n:n], backing
	// The mapping is page aligned, so the records are; they stay mapped as
	// long as the pages.
	r.meta = unsafe.Slice((*Meta)(unsafe.Pointer(&b[pages])), r.cfg.Pages)
	r.unmap = func() error { return unix.Munmap(b) }
	return nil
}

// mapBytes maps at least n bytes of the largest pages that can be had.
func mapBytes(n int) (b []byte, backing string, err error) {
	const prot = unix.PROT_READ | unix.PROT_WRITE
	const flags = unix.MAP_PRIVATE | unix.MAP_ANON
	if n < hugeBytes {
		b, err = unix.Mmap(-1, 0, n, prot, flags|unix.MAP_POPULATE)
		return b, "plain pages", err
	}
	n = (n + hugeBytes - 1) &^ (hugeBytes - 1)
	b, err = unix.Mmap(-1, 0, n, prot, flags|unix.MAP_HUGETLB|unix.MAP_POPULATE)
	if err == nil {
		return b, "2 MiB pages", nil
	}
	if b, err = unix.Mmap(-1, 0, n, prot, flags); err != nil {
		return nil, "", err
	}
	switch err = unix.Madvise(b, unix.MADV_HUGEPAGE); {
	case err == nil:
		return b, "transparent huge pages", nil
	case errors.Is(err, unix.EINVAL):
		return b, "plain pages", nil // a kernel without them
	}
	return nil, "", errors.Join(err, unix.Munmap(b))
}
