// Package port drives the queues of one interface from one goroutine: the poll
// loop. Frames come in, packets go to a handler in batches; what the handler
// posts is sent, and the memory of all else goes back when it returns.
//
//	nic.Step -> rx.Poll -> gro.Receive -> handler -> rx.Free
//	    ^                                    | Post
//	    +---- tx.Flush <- tx.Post <----------+      tx.Reap -> rx.Free
//
// A loop that finds nothing for a while sleeps until the device has an event.
//
// The goroutine that calls Run owns everything below: device, queues, packets
// and batches. The handler is lent its batch, and Post takes what it is given;
// what else the handler keeps it copies. Other goroutines call Stats only.
//
// The trap: a handler that blocks stops the queue; a slow one shows up as
// rx_out_of_buffer in the device, as with a card.
package port
