package tx

import (
	"errors"
	"fmt"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/internal/cpu"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// The sizes in bytes that are measured, and how: packets of a head of 54 bytes
// and a payload in another page, as TCP has them.
var probeSizes = [...]uint32{64, 128, 192, 256, 384, 512, 768, 972, 1500, 2048}

const (
	probeHead   = 54
	probeBatch  = 32
	probeRounds = 12 // of all sizes and ways in turn; the least time of a batch counts
)

// What is measured of each size.
const (
	probeMapped  = iota
	probeInline  // all of it
	probeCopied  // all of it to a premapped buffer
	probeHeaders // its head only
	numProbes
)

// curve is the time for each size, in ticks a batch; 0: the way cannot take it.
type curve [len(probeSizes)]uint64

// gain is what a way has to save to be chosen: 1/gain of the time. Where it
// saves nothing it may not cost more than the noise of the measurement.
const (
	gain  = 20
	noise = 50
)

// calibrate measures what packets of some sizes cost the driver, on a queue of
// its own in the same domain, which nobody but a completer serves, and chooses:
//
//  1. A way's threshold is the largest size up to which it takes at least 5 %
//     less than mapped, at each size.
//  2. A way that costs more than mapped anywhere, with this threshold, by more
//     than 2 %, is out.
//  3. Of mapped and the ways that are left the one is chosen that takes least
//     for all sizes together; a way has to take 5 % less than mapped.
//
// Linearize is not measured: it does all that premapped does and maps besides.
func (q *Queue) calibrate() (Copybreak, string, error) {
	p, err := q.openProbe()
	if err != nil {
		return Copybreak{}, "", err
	}
	costs := p.measure()
	if err := p.close(); err != nil {
		return Copybreak{}, "", err
	}
	c, saved := choose(&costs)
	if c.Way == Mapped {
		return c, "measured: copying does not pay", nil
	}
	return c, fmt.Sprintf("measured: %v takes %d %% less than mapped", c, saved), nil
}

// choose is the rule.
func choose(costs *[numProbes]curve) (best Copybreak, saved uint64) {
	mapped := &costs[probeMapped]
	least := sum(mapped) - sum(mapped)/gain
	for _, way := range []struct {
		Way
		copied, longer *curve
	}{
		{Inline, &costs[probeInline], mapped},
		{Premapped, &costs[probeCopied], &costs[probeHeaders]},
	} {
		n := threshold(way.copied, mapped)
		all := *way.longer
		copy(all[:n], way.copied[:n])
		if total := sum(&all); total < least && !slower(&all, mapped) {
			least, best = total, Copybreak{Way: way.Way}
			if n > 0 {
				best.Bytes = int(probeSizes[n-1])
			}
			saved = 100 - 100*total/sum(mapped)
		}
	}
	return best, saved
}

func sum(c *curve) (total uint64) {
	for _, n := range c {
		total += n
	}
	return total
}

// threshold is how many sizes, from the smallest on, are to be copied.
func threshold(copied, mapped *curve) int {
	for i, n := range copied {
		if n == 0 || n > mapped[i]-mapped[i]/gain {
			return i
		}
	}
	return len(copied)
}

func slower(c, mapped *curve) bool {
	for i, n := range c {
		if n > mapped[i]+mapped[i]/noise {
			return true
		}
	}
	return false
}

// A probe is the queue that is measured, with its packets.
type probe struct {
	q      *Queue
	slab   *packet.Slab
	region *mem.Region
	batch  *packet.Batch
	taken  uint16 // the completer's place in the ring
	cqes   uint32
}

// openProbe makes a queue like q.
func (q *Queue) openProbe() (p *probe, err error) {
	cfg := q.cfg
	cfg.Blocks, cfg.Copybreak, cfg.LimitBytes, cfg.TimeoutNs = 512, Copybreak{}, 0, -1
	p = &probe{}
	defer func() {
		if err != nil {
			p.close()
		}
	}()
	if p.q, err = New(cfg, q.dom); err != nil {
		return p, err
	}
	if p.slab, err = packet.NewSlab(probeBatch, cfg.Kind); err != nil {
		return p, err
	}
	p.region, err = mem.Open(mem.Config{Pages: probeBatch, Kind: cfg.Kind})
	if err != nil {
		return p, err
	}
	p.batch = packet.NewBatch(p.slab, probeBatch)
	err = p.q.Serve(p.slab, func(b *packet.Batch) {
		for k := range b.Len() {
			p.batch.Add(b.Index(k))
		}
	})
	if err != nil {
		return p, err
	}
	return p, p.fill()
}

// fill makes the packets.
func (p *probe) fill() error {
	for k := range probeBatch {
		i := p.slab.Get()
		pkt := p.slab.At(i)
		*pkt = packet.Packet{}
		p.slab.GetSmall(pkt)
		pkt.Linear = probeHead
		page := p.region.Ref(k)
		*pkt.Shared() = packet.SharedInfo{NumFrags: 1}
		pkt.Shared().Frags[0].Ref = page
		p.batch.Add(i)
		if p.q.cfg.KeptMapped { // as the pages of a pool are
			iova, err := p.q.mapper.MapRange(page, 0, page.PageBytes(), dma.ToDevice)
			if err != nil {
				return err
			}
			page.Meta().IOVA = iova
		}
	}
	return nil
}

func (p *probe) measure() (costs [numProbes]curve) {
	for range probeRounds {
		for i, size := range probeSizes {
			for v := range costs {
				if c, ok := p.variant(v, size); ok {
					ticks := p.batchOf(size, c)
					if old := costs[v][i]; old == 0 || ticks < old {
						costs[v][i] = ticks
					}
				}
			}
		}
	}
	return costs
}

// variant is the Copybreak to measure; false: the way does not take the size.
func (p *probe) variant(v int, size uint32) (Copybreak, bool) {
	c := Copybreak{}
	switch v {
	case probeInline:
		c = Copybreak{Way: Inline, Bytes: int(size)}
	case probeCopied:
		c = Copybreak{Way: Premapped, Bytes: int(size)}
	case probeHeaders:
		c = Copybreak{Way: Premapped}
	}
	return c, p.q.checkCopybreak(c) == nil && size <= p.q.limits.frame
}

// batchOf posts a batch of that size and reaps it, and says how long that
// took; the completer is not counted.
func (p *probe) batchOf(size uint32, c Copybreak) (ticks uint64) {
	p.q.copying = c
	for k := range probeBatch {
		pkt := p.batch.At(k)
		pkt.Len = size
		pkt.Shared().Frags[0].Len = size - probeHead
	}
	start := cpu.TSC()
	p.q.Post(p.batch)
	p.q.Flush()
	ticks = cpu.TSC() - start
	p.complete()
	start = cpu.TSC()
	p.q.Reap(0)
	return ticks + cpu.TSC() - start
}

// complete is the device: it completes what was rung.
func (p *probe) complete() {
	sq := p.q.SQ()
	for p.taken != uint16(sq.Producer.Load()) {
		w := sq.At(uint32(p.taken)).Control()
		if w.Completes() {
			sq.CQ.At(p.cqes).Publish(
				desc.PackOwn(p.taken, desc.OpReq, desc.FormatPlain, sq.CQ.Lap(p.cqes)))
			p.cqes++
		}
		p.taken += uint16(blocks(w.Segments()))
	}
}

// close gives back what was opened.
func (p *probe) close() (err error) {
	if p.region != nil {
		for k := range probeBatch {
			if iova := p.region.Ref(k).Meta().IOVA; iova != 0 {
				p.q.mapper.Unmap(iova)
			}
		}
		err = p.region.Close()
	}
	if p.q != nil {
		err = errors.Join(err, p.q.Close())
	}
	if p.slab != nil {
		err = errors.Join(err, p.slab.Close())
	}
	return err
}
