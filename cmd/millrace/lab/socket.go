package lab

import "github.com/millrace-net/millrace/packet"

// A socket queues packets until there are as many bytes as the application
// reads at once. It belongs to the driver.
type socket struct {
	packets *packet.Batch
	bytes   int
	read    int // bytes; 0: each poll is handed over as it is
}

// leastPacket is a length that packets of a stream do not fall below.
const leastPacket = 256

func newSocket(s *packet.Slab, read int) socket {
	return socket{packets: packet.NewBatch(s, read/leastPacket+2*pollBudget), read: read}
}

// add takes the packets of b and reports whether there is enough to be read.
// The reader empties the queue then.
func (s *socket) add(b *packet.Batch) bool {
	for i := range b.Len() {
		s.bytes += int(b.At(i).Len)
		s.packets.Add(b.Index(i))
	}
	b.Reset()
	if s.bytes < s.read || s.packets.Len() == 0 {
		return false
	}
	s.bytes = 0
	return true
}
