package pagepool_test

import (
	"fmt"

	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/pagepool"
)

// Two users share a page: one on the owner's goroutine, one on another.
func Example() {
	region, err := mem.Open(mem.Config{Pages: 64})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer region.Close()
	pool, err := pagepool.New(pagepool.Config{Region: region, Domain: dma.New(dma.Config{})})
	if err != nil {
		fmt.Println(err)
		return
	}
	page := make([]mem.Ref, 1)
	pool.Alloc(page)
	pool.Put(page[0], pagepool.Bias-2) // two references handed out: the rest goes back
	pool.Put(page[0], 1)               // the first user is done
	fmt.Printf("%+v\n", pool.Books())

	done := make(chan bool)
	go func() { pool.Return(page); close(done) }() // the second user
	<-done
	pool.Drain()
	fmt.Printf("%+v\n", pool.Books())
	fmt.Println(pool.Close())
	// Output:
	// {Free:63 Out:1 Total:64}
	// {Free:64 Out:0 Total:64}
	// <nil>
}
