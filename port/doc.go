// Package port drives the queues of one interface from one goroutine: the poll
// loop. Frames come in, packets go to a handler in batches, their memory goes
// back when the handler returns.
//
//	nic.Step -> rx.Poll -> gro.Receive -> handler -> rx.Free
//
// The goroutine that calls Run owns everything below: device, queues, packets
// and batches. The handler is lent its batch; what it keeps it copies. Other
// goroutines call Stats only.
//
// The trap: a handler that blocks stops the queue; a slow one shows up as
// rx_out_of_buffer in the device, as with a card.
package port
