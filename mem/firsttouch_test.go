package mem

import (
	"fmt"
	"testing"

	"github.com/millrace-net/millrace/internal/cpu"
	"github.com/millrace-net/millrace/internal/testenv"
)

var stores = []struct {
	name string
	f    func(dst, src []byte) int
}{{"stores", func(dst, src []byte) int { return copy(dst, src) }}, {"nontemporal", CopyNT}}

// BenchmarkFirstTouch reads two lines of frames that a device has just
// written: by ordinary stores the reads hit a cache, by CopyNT they miss all
// of them, and a prefetch some frames ahead hides most of that. ns/frame is
// the reads alone; the order is random, so that no hardware prefetcher helps.
func BenchmarkFirstTouch(b *testing.B) {
	const frames, size = 256, 2048
	r, src := open(b, Config{PageBytes: size, Pages: frames}), make([]byte, 1514)
	order := testenv.Rand(1, 0).Perm(frames)
	for _, store := range stores {
		for _, ahead := range []int{0, 1, 4, 8} {
			b.Run(fmt.Sprintf("%s/ahead%d", store.name, ahead), func(b *testing.B) {
				var ticks uint64
				for b.Loop() {
					for i := range frames {
						store.f(r.Ref(i).Bytes(78, 1514), src)
					}
					Fence()
					start := cpu.TSC()
					touch(r, order, ahead)
					ticks += cpu.TSC() - start
				}
				b.ReportMetric(cpu.Nanoseconds(ticks)/float64(b.N*frames), "ns/frame")
			})
		}
	}
}

// touch reads the first two lines of each frame; the address depends on the
// byte read last (a zero), so that the reads do not overlap by themselves.
func touch(r *Region, order []int, ahead int) (zero byte) {
	for i, page := range order {
		if ahead > 0 {
			next := order[(i+ahead)%len(order)]
			p := r.Ref(next).At(78, 128)
			Prefetch(p, p, p, p, p, 64)
		}
		b := r.Ref(page).Bytes(78+uint32(zero), 128)
		zero += b[0] + b[64]
	}
	return zero
}

// BenchmarkCopyNT is what the stores cost the device.
func BenchmarkCopyNT(b *testing.B) {
	const frames = 4096 // 8 MiB
	r := open(b, Config{PageBytes: 2048, Pages: frames})
	for _, size := range []int{60, 1514} {
		src := make([]byte, size)
		for _, store := range stores {
			b.Run(fmt.Sprintf("%s/%d", store.name, size), func(b *testing.B) {
				i := 0
				for b.Loop() {
					store.f(r.Ref(i%frames).Bytes(64, uint32(size)), src)
					i++
				}
			})
		}
	}
}
