package dma_test

import (
	"fmt"

	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
)

// A queue sends 12 bytes of a page; the device reads them by their I/O
// address, and may do nothing else.
func ExampleMapper() {
	region, err := mem.Open(mem.Config{Pages: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer region.Close()
	page := region.Ref(0)
	copy(page.Bytes(100, 12), "hello, world")

	domain := dma.New(dma.Config{Mode: dma.Strict})
	queue := domain.NewMapper()
	iova, err := queue.MapRange(page, 100, 12, dma.ToDevice)
	if err != nil {
		fmt.Println(err) // dma.ErrNoAddress: unmap something and try again
		return
	}
	b, _ := domain.Reach(iova, 12, false)
	fmt.Println(string(b))
	_, write := domain.Reach(iova, 12, true)
	queue.Unmap(iova)
	_, stale := domain.Reach(iova, 12, false)
	fmt.Println(write, stale)

	queue.Close()
	s := domain.Stats()
	fmt.Println(s.Maps, s.Unmaps, s.Invalidations, s.DeviceFaults)
	// Output:
	// hello, world
	// false false
	// 1 1 1 2
}
