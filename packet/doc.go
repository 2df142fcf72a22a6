// Package packet is the unit of the pipeline: a Packet, its SharedInfo and the
// Batch that carries packets from stage to stage.
//
//	head buffer                         page fragments
//	[headroom|linear bytes|tail|SharedInfo] -> Frag, Frag, ... (up to 17)
//	                              \-> chained packets (frag_list)
//
// A Packet is two cache lines without a Go pointer. It lives in the Slab of
// its queue and is named there by an index; the goroutine of the queue owns
// slab, packets and batches. The SharedInfo lies in the tailroom of the head
// buffer, so a packet whose bytes are all in its head touches no other memory.
// The head is a slice of a pool page (HeadPage), which may become a fragment,
// or a small buffer of the slab (HeadSmall), which may not.
//
// A packet owns one reference on each page it names. Free of the slab gives
// back the record and a small head only; the references on pages go back to
// their pool first (rx.Queue.Free does both).
package packet
