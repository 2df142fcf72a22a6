package lab

import (
	"fmt"

	"github.com/millrace-net/millrace/cmd/millrace/lab/machine"
)

// touched is how many bytes of cache lines a lap of one queue touches at least:
// two of headers for each stride, one of SharedInfo where packets are built,
// and one of Meta for each page.
func (s *setup) touched() int {
	perStride := 3
	if s.rx.XDP.Program != nil {
		perStride = 2
	}
	return 64 * (perStride*s.polls*burst + s.pages)
}

// llcTimes is how much larger than the last-level cache the working set is to
// be; memoryShare the part of memory that it may take.
const (
	llcTimes    = 1.5
	memoryShare = 4
	maxLanes    = 64
	assumedLLC  = 32 << 20 // where the system does not tell
)

// workingSet is the number of queues whose lines exceed the last-level cache;
// each touches so many bytes and has so much memory.
func workingSet(m *machine.Machine, touched, memory int) int {
	llc := m.LLCBytes
	if llc == 0 {
		llc = assumedLLC
	}
	n := int(llcTimes*float64(llc))/touched + 1
	if m.MemoryBytes > 0 {
		n = min(n, m.MemoryBytes/memoryShare/memory)
	}
	return max(1, min(n, maxLanes))
}

func workingSetNote(m *machine.Machine, lanes, touched int) string {
	text := fmt.Sprintf("working set: %d queues; the driver touches %s of packet memory before it "+
		"comes back to the same line", lanes, machine.Size(lanes*touched))
	switch {
	case m.LLCBytes == 0:
		return text + "; the size of the last-level cache is unknown"
	case lanes*touched < m.LLCBytes:
		text += ", memory is too small for more: ONLY "
	default:
		text += ": "
	}
	return text + fmt.Sprintf("%.2f times the last-level cache (%s)",
		float64(lanes*touched)/float64(m.LLCBytes), machine.Size(m.LLCBytes))
}
