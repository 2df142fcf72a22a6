package xdp

import (
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
)

// BenchmarkSend is what verdict Tx costs the driver: a WQE a frame, a doorbell
// and a completion for 64, the page given back.
func BenchmarkSend(b *testing.B) {
	dom := dma.New(dma.Config{})
	page := pages(b, 1)[0]
	page.Meta().IOVA, _ = dom.Map(page)
	q, err := NewSendQueue(SendConfig{}, dom)
	if err != nil {
		b.Fatal(err)
	}
	dev := &device{t: b, sq: q.SQ(), dom: dom}
	f := NewBuff(Traits{Limit: HeadRoom + 512})
	f.Reset(page, 0, 512, new(desc.CQE))
	give := func(mem.Ref, int32) {}
	const poll = 64
	for b.Loop() {
		for range poll {
			q.Send(f, give)
		}
		q.Flush()
		dev.complete(uint16(q.ring.Producer()-1), desc.OpReq)
		q.Reap()
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*poll), "ns/pkt")
	if s := q.Stats(); s.Done != s.Xmit || s.Full != 0 {
		b.Errorf("%+v", s)
	}
}
