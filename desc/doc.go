// Package desc is the contract of driver and device: the bytes of descriptors
// and completions, and the words that pass them back and forth.
//
//	driver                         device
//	RQ: WQEs, MTT, Producer  --->  takes WQEs, writes frames
//	SQ: blocks, Producer     --->  takes WQEs, reads and sends frames
//	CQ: Consumer             --->  never overwrites what is not consumed
//	CQ: Entries              <---  writes bytes 0 to 59, then publishes the
//	                               ownership word (bytes 60 to 63)
//	CQ: Arm                  --->  raises one event when it is due
//
// Formats are arrays with big-endian accessors, as in facts/mlx5e.md 1 and 2.
// The driver owns WQEs and translation entries that it has not posted, and
// completions from their ownership word on until it rings Consumer; the device
// owns the rest. A queue in state Reset is the driver's alone: Modify to Reset
// returns once the device has let go of it.
//
// The trap: of an entry in the ring nothing may be read before Own says that
// it is the driver's, and the plain accessors of bytes 60 to 63 (WQECounter,
// OpOwn) are for private copies only: in the ring that word is read by Own and
// written by Publish.
package desc
