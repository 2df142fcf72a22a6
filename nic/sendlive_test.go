package nic

import (
	"bytes"
	"runtime"
	"sync"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
)

// Driver, device and receiver on goroutines of their own, with resets in
// between, and a driver that waits for events: for the race detector, and for
// the books at the end.
func TestSendLive(t *testing.T) {
	r := newSendRigIn(t, Config{}, 16, dma.Config{})
	check(t, r.sq.CQ.Moderate(desc.Moderation{Usecs: 50, Frames: 4}))
	head, payload := largeTCP(3000)
	orders := []order{
		{op: desc.SendLarge, mss: 900, sums: everySum, header: head, segs: r.place(payload, 700)},
		plain, several,
	}
	var wg sync.WaitGroup
	stop := make(chan struct{})
	now, got := int64(0), 0
	wg.Go(func() {
		until(stop, func() {
			now += 10 * us
			r.dev.Step(now)
		})
	})
	wg.Go(func() {
		var f Frame
		until(stop, func() {
			for r.far.Next(0, &f) {
				got += min(1, len(bytes.TrimSpace(f.Data)))
			}
		})
	})
	waits := 0
	for i := range 400 {
		r.write(orders[i%3])
		r.sq.Producer.Ring(r.pc & 0xffff)
		if i%50 == 49 {
			r.reset()
			continue
		}
		for before := r.seen; ; waits++ {
			if r.takeCompletions(0); r.seen != before {
				break
			}
			r.sq.CQ.Arm(r.seen)
			for !r.sq.CQ.Fired() {
				runtime.Gosched()
			}
		}
	}
	close(stop)
	wg.Wait()
	r.step()
	got += len(r.take())
	s := r.dev.Stats()
	if uint64(got) != s.TxPacketsPhy || got == 0 || waits == 0 || s.CQEvents == 0 {
		t.Errorf("%d frames, %d waits: %+v", got, waits, s)
	}
}

// until does the work over and over.
func until(stop chan struct{}, work func()) {
	for {
		work()
		runtime.Gosched()
		select {
		case <-stop:
			return
		default:
		}
	}
}
