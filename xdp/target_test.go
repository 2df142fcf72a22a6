package xdp

import (
	"bytes"
	"slices"
	"testing"

	"github.com/millrace-net/millrace/mem"
)

// A handler is lent frames by sixteens, the rest at the end of the poll; its
// pages come home when it returns.
func TestRedirectToHandler(t *testing.T) {
	r := newRig(t, SendConfig{}, 4)
	var got [][]byte
	var calls []int
	red := NewRedirector([]Target{{Handle: func(frames []Frame) {
		calls = append(calls, len(frames))
		for i := range frames {
			got = append(got, slices.Concat(slices.Collect(frames[i].Pieces())...))
			if len(got[len(got)-1]) != frames[i].Len || frames[i].Queue != 0 {
				t.Errorf("frame says %d bytes, queue %d", frames[i].Len, frames[i].Queue)
			}
		}
	}}}, r.give)
	var want []byte
	for i := range 40 {
		b, bytes := r.frame(14*(i%2), 100, 50)
		if b.Redirect(0) != Redirect || !red.Take(b) {
			t.Fatal("refused")
		}
		for _, f := range b.Frags() {
			r.held[f.Ref]++
		}
		if i%2 == 1 {
			r.held[b.Head().Ref]++
		}
		want = bytes
	}
	red.Flush()
	red.Flush()
	if !slices.Equal(calls, []int{16, 16, 8}) || !bytes.Equal(got[39], want) {
		t.Errorf("calls of %v frames", calls)
	}
	for page, n := range r.held {
		if n != 0 {
			t.Errorf("page %d has %d references left", page.Page(), n)
		}
	}
}

// A send queue takes them at once, and its doorbell rings at the end.
func TestRedirectToSendQueue(t *testing.T) {
	r := newRig(t, SendConfig{Blocks: 64}, 4)
	red := NewRedirector([]Target{{}, {Send: r.q}}, r.give)
	var want []byte
	for i := range 65 {
		var b *Buff
		b, want = r.frame(60)
		b.Redirect(1)
		if red.Take(b) != (i < 64) {
			t.Errorf("frame %d", i)
		}
	}
	r.held[r.refs[0]] += 64
	red.Flush()
	r.dev.step(99)
	red.Reap()
	if len(r.dev.sent) != 64 || !bytes.Equal(r.dev.sent[63], want) {
		t.Errorf("%d frames sent", len(r.dev.sent))
	}
	r.law()
}

func TestRedirectNowhere(t *testing.T) {
	r := newRig(t, SendConfig{}, 4)
	red := NewRedirector([]Target{{}}, r.give)
	b, _ := r.frame(60)
	if red.Take(b) {
		t.Error("a program that chose nothing")
	}
	for _, i := range []int{-1, 0, 1, 1 << 40} {
		if b.Redirect(i); red.Take(b) {
			t.Errorf("target %d", i)
		}
	}
}

// Every call of a program, and what is behind Tx and Redirect, allocates
// nothing.
func TestNothingAllocates(t *testing.T) {
	r := newRig(t, SendConfig{}, 4)
	give := func(mem.Ref, int32) {}
	red := NewRedirector([]Target{{Handle: func(f []Frame) {}}}, give)
	b, _ := r.frame(200, 100, 100)
	pristine := *b
	small := make([]byte, 300)
	n := testing.AllocsPerRun(200, func() {
		*b = pristine
		b.AdjustMeta(-8)
		b.AdjustHead(-20)
		b.AdjustTail(-10)
		b.PullData(250)
		b.Load(0, small[:100])
		b.Store(0, small[:100])
		b.Data()[0] = b.Meta()[0]
		if !r.q.Send(b, give) {
			t.Error("refused")
		}
		r.q.Flush()
		r.dev.step(1)
		r.dev.sent, r.dev.wqes = r.dev.sent[:0], r.dev.wqes[:0]
		r.q.Reap()
		b.Redirect(0)
		red.Take(b)
		red.Flush()
	})
	if n > 1 { // the frame that the test's device gathers
		t.Errorf("%v allocations", n)
	}
}
