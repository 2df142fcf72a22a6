package tx_test

import (
	"fmt"

	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/tx"
)

// A frame of 60 bytes is sent by the software NIC, inline.
func Example() {
	dom := dma.New(dma.Config{Mode: dma.Strict})
	q, err := tx.New(tx.Config{Copybreak: tx.Copybreak{Way: tx.Inline, Bytes: 128}}, dom)
	if err != nil {
		fmt.Println(err)
		return
	}
	defer q.Close()
	dev, _ := nic.New(nic.Config{}, dom)
	dev.AddSQ(q.SQ())

	slab, _ := packet.NewSlab(8, mem.Auto)
	defer slab.Close()
	q.Serve(slab, func(b *packet.Batch) { // takes packets that are done with
		for k := range b.Len() {
			slab.Free(b.Index(k))
		}
	})

	b := packet.NewBatch(slab, 8)
	i := slab.Get()
	p := slab.At(i)
	*p = packet.Packet{}
	slab.GetSmall(p)
	p.Linear, p.Len = 60, 60
	b.Add(i)

	q.Post(b) // what does not fit stays in b
	q.Flush()
	dev.Step(0)
	q.Reap(0)
	s := q.Stats()
	fmt.Println(s.Done, "done,", s.Ways[tx.Inline].Packets, "inline,", slab.InUse(), "in use")
	// Output: 1 done, 1 inline, 0 in use
}

// What is asked for and what is in force.
func ExampleQueue_SetCopybreak() {
	q, _ := tx.New(tx.Config{}, nil)
	defer q.Close()
	fmt.Println(q.SetCopybreak(tx.Copybreak{Way: tx.Inline, Bytes: 2000}))
	q.SetCopybreak(tx.Copybreak{Way: tx.Premapped, Bytes: 200})
	e := q.Effective()
	fmt.Println(e.InForce, "of at most", e.CopyMax[tx.Premapped])
	// Output:
	// tx: tx-copybreak is 2000, want 0 to 972 for inline: a WQE of 63 segments holds no more
	// premapped 200 of at most 256
}
