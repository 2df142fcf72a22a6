package pagepool

import (
	"testing"

	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
)

func plain() Config { return Config{Domain: dma.New(dma.Config{})} }

// perPage reports the cost of a page beside that of a call.
func perPage(b *testing.B, pages int) {
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*pages), "ns/page")
}

func BenchmarkAllocPutCache(b *testing.B) {
	for _, n := range []int{1, 8, 32, 64} {
		b.Run(sizeName(n), func(b *testing.B) {
			p, _ := newPool(b, plain(), 4096, 128)
			dst := make([]mem.Ref, n)
			for b.Loop() {
				p.Alloc(dst)
				for _, page := range dst {
					p.Put(page, Bias)
				}
			}
			perPage(b, n)
		})
	}
}

// BenchmarkAllocCache times one half alone: the pages are put back by setting
// the cache's count.
func BenchmarkAllocCache(b *testing.B) {
	p, _ := newPool(b, plain(), 4096, 128)
	dst := make([]mem.Ref, 64)
	p.Put(alloc(b, p, 1)[0], Bias)
	for b.Loop() {
		p.Alloc(dst)
		p.cached += len(dst)
	}
	perPage(b, len(dst))
}

func BenchmarkPutReference(b *testing.B) {
	p, _ := newPool(b, plain(), 4096, 1)
	page := alloc(b, p, 1)[0]
	for b.Loop() {
		p.Put(page, 1)
		page.Meta().Refs = Bias
	}
}

func BenchmarkPutLast(b *testing.B) {
	p, _ := newPool(b, plain(), 4096, 64)
	pages := alloc(b, p, 64)
	for b.Loop() {
		for _, page := range pages {
			p.Put(page, Bias)
			m := page.Meta()
			m.Refs, m.State = Bias, StateOut
		}
		p.cached = 0
	}
	perPage(b, len(pages))
}

func BenchmarkReturnDrain(b *testing.B) {
	p, _ := newPool(b, plain(), 4096, 64)
	pages := make([]mem.Ref, 64)
	for b.Loop() {
		p.Alloc(pages)
		for _, page := range pages {
			p.Put(page, Bias-1)
		}
		p.Return(pages)
		p.Drain()
	}
	perPage(b, len(pages))
}
