package machine

import (
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/millrace-net/millrace/internal/cpu"
	"github.com/millrace-net/millrace/mem"
)

const (
	line     = 64
	minChase = 64 << 20 // bytes
	maxChase = 1 << 30
)

// MeasureMemory fills in the latency of main memory and the bandwidth of a
// copy, on the calling thread. It takes about a quarter of a second.
func (m *Machine) MeasureMemory() error {
	size := min(max(8*m.LLCBytes, minChase), maxChase)
	r, err := mem.Open(mem.Config{PageBytes: size, Pages: 1})
	if err != nil {
		return err
	}
	b := r.Ref(0).Bytes(0, uint32(size))
	tie(b)
	m.DRAMLatencyNs = chase(b, min(size/line, 1<<20))
	m.CopyGBps = copySpeed(b[:size/2], b[size/2:])
	m.Backing = r.Backing()
	return r.Close()
}

// tie writes a cycle through all lines of b, in random order: each line begins
// with the offset of the next.
func tie(b []byte) {
	order := rand.New(rand.NewPCG(1, 0)).Perm(len(b) / line)
	at := order[len(order)-1]
	for _, next := range order {
		binary.LittleEndian.PutUint32(b[at*line:], uint32(next*line))
		at = next
	}
}

// chase follows the cycle and gives the ns of a step. Each line is visited
// once, so none is found in a cache that is smaller than b.
func chase(b []byte, steps int) float64 {
	at, start := uint32(0), cpu.TSC()
	for range steps {
		at = binary.LittleEndian.Uint32(b[at:])
	}
	ns := cpu.Nanoseconds(cpu.TSC() - start)
	b[1<<3] = byte(at) // the loop has a use
	return ns / float64(steps)
}

// copySpeed is the median of five copies, in 10^9 bytes a second.
func copySpeed(dst, src []byte) float64 {
	var speeds []float64
	for range 5 {
		start := cpu.TSC()
		n := copy(dst, src)
		speeds = append(speeds, float64(n)/cpu.Nanoseconds(cpu.TSC()-start))
	}
	slices.Sort(speeds)
	return speeds[len(speeds)/2]
}
