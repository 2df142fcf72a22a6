package tx

import (
	"errors"
	"fmt"
	"math"
	"math/bits"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/sendring"
	"github.com/millrace-net/millrace/packet"
)

// New makes a queue in state Ready; a device takes its SQ. dom is lent until
// Close; nil means a domain of its own without translation.
func New(cfg Config, dom *dma.Domain) (q *Queue, err error) {
	if cfg, err = cfg.withDefaults(); err != nil {
		return nil, err
	}
	if dom == nil {
		dom = dma.New(dma.Config{})
	}
	q = &Queue{cfg: cfg, dom: dom, mapper: dom.NewMapper()}
	defer func() {
		if err != nil {
			err, q = errors.Join(err, q.dismantle()), nil
		}
	}()
	if q.ring, err = sendring.New(cfg.Blocks, cfg.Number); err != nil {
		return q, fmt.Errorf("tx: %w", err)
	}
	q.number = uint32(cfg.Number)
	q.limit()
	q.parse.VXLAN = cfg.VXLAN
	if err = q.bufs.open(q.bufConfig(), q.mapper); err != nil {
		return q, err
	}
	blocks := q.ring.Blocks()
	q.wqes = make([]position, blocks)
	q.maps = make([]uint64, blocks*perBlock)
	q.held = make([]uint32, blocks*perBlock)
	q.cutter.pieces = make([][]byte, 0, 1+packet.MaxFrags)
	if err = q.SetCopybreak(cfg.Copybreak); err != nil {
		return q, err
	}
	q.publish()
	return q, nil
}

// limit works out what the configuration amounts to. A WQE of n blocks needs
// 2n-1 of them, with the NOPs in front; so does a run of buffers. A session may
// have to be closed first (facts/mlx5e.md 1.8).
func (q *Queue) limit() {
	l, c := &q.limits, &q.cfg
	l.frame = uint32(c.MTU) + minFrame
	l.bytes = uint64(c.LimitBytes)
	if l.bytes == 0 {
		l.bytes = math.MaxUint64
	}
	l.offloads, q.why = c.offloads()
	if l.offloads&MultiPacket != 0 {
		l.simple = min(l.frame, maxShared) - minFrame + 1
	}
	l.pieces = c.MinInline == desc.InlineNone && !c.KeptMapped
	l.minInline, l.kept = c.MinInline, c.KeptMapped
	l.room = stopRoom(desc.MaxSendBlocks)
	if l.offloads&MultiPacket != 0 {
		l.room += stopRoom(desc.MaxMultiBlocks)
	}
	l.bufRoom = stopRoom(uint32(q.frameBufs()))
}

func stopRoom(n uint32) uint32 { return 2*n - 1 }

// frameBufs is how many premapped buffers in a row hold the longest frame, with
// two tags and one that is put in.
func (q *Queue) frameBufs() int {
	return (q.cfg.MTU + minFrame + 3*header.VLANBytes + q.cfg.BufBytes - 1) / q.cfg.BufBytes
}

// bufConfig sizes the premapped buffers: one for each block, and enough for a
// few frames that are cut in software.
func (q *Queue) bufConfig() bufConfig {
	n := max(int(q.ring.Blocks()), 4*q.frameBufs())
	return bufConfig{
		count: 1 << bits.Len(uint(n-1)), bytes: q.cfg.BufBytes, kind: q.cfg.Kind,
	}
}

// SQ is what the device takes: lent until Close.
func (q *Queue) SQ() *desc.SQ { return q.ring.SQ }

// Serve lets packets of s be posted. free takes those that are done with, in a
// batch, from within Post, Reap and Close; it calls nothing of the queue. A
// second Serve of a slab changes its free.
func (q *Queue) Serve(s *packet.Slab, free func(*packet.Batch)) error {
	if s == nil || free == nil {
		return errors.New("tx: serve: want a slab and a function that takes its packets")
	}
	for k := range q.sources {
		if q.sources[k].slab == s {
			q.sources[k].free = free
			return nil
		}
	}
	if len(q.sources) == maxSources {
		return fmt.Errorf("tx: serve: a queue serves at most %d slabs", maxSources)
	}
	q.sources = append(q.sources, source{
		slab: s, free: free, home: packet.NewBatch(s, s.Cap()),
		tag: uint32(len(q.sources)) << indexBits,
	})
	return nil
}

// Close takes the ring from the device. What it had not done is Lost; all
// packets go home. Closing twice does nothing.
func (q *Queue) Close() error {
	if q.closed {
		return nil
	}
	q.ring.Poll(0, 0)
	q.reap(&q.count.done)
	q.abandon()
	q.goHome()
	q.stopped, q.closed = true, true
	err := q.dismantle()
	q.publish()
	return err
}

// dismantle gives back what has been opened, the last first.
func (q *Queue) dismantle() error {
	err := errors.Join(q.linear.close(), q.bufs.close(q.mapper))
	q.mapper.Tick(0) // so that the domain's counts are those of the end
	q.mapper.Close()
	return err
}
