package nic

import (
	"bytes"
	"testing"

	"github.com/millrace-net/millrace/header"
)

func TestFrames(t *testing.T) {
	w := &Frames{List: []Frame{{Data: []byte{1}, Time: 10}, {Data: []byte{2}, Time: 30}}}
	var f Frame
	for i := range 2 {
		if !w.Next(0, &f) || f.Data[0] != byte(i+1) {
			t.Errorf("frame %d is %v", i, f)
		}
	}
	if w.Next(0, &f) || w.Left() != 0 {
		t.Error("a third frame")
	}
	w.Rewind()
	w.Paced = true
	for _, step := range []struct {
		now  int64
		want bool
	}{{9, false}, {10, true}, {29, false}, {30, true}, {99, false}} {
		if got := w.Next(step.now, &f); got != step.want {
			t.Errorf("at %d: %v", step.now, got)
		}
	}
}

// Two devices on one cable: what one end sends arrives at the other, copied,
// in order, and not more than it holds.
func TestCable(t *testing.T) {
	a, z, err := NewCable(4)
	check(t, err)
	b := newBench(t, linear1500, Config{})
	b.dev.Plug(z)
	for lap := range 10 {
		buf := udp4(100)
		for i := range 4 {
			buf[50] = byte(lap*4 + i)
			if !a.Send(Frame{Data: buf, Link: header.LinkEthernet}) {
				t.Fatalf("lap %d: full after %d", lap, i)
			}
		}
		if a.Send(Frame{Data: buf}) {
			t.Fatal("a fifth frame")
		}
		b.dev.Step(0)
		for i, p := range b.poll() {
			if p.data[50] != byte(lap*4+i) {
				t.Errorf("lap %d, frame %d: % x", lap, i, p.data)
			}
		}
	}
	if !z.Send(Frame{Data: []byte{7}}) {
		t.Fatal("the other way is full")
	}
	var f Frame
	if !a.Next(0, &f) || !bytes.Equal(f.Data, []byte{7}) || a.Next(0, &f) {
		t.Error("the other way")
	}
}

// A frame that is lent stays as it is while others are sent.
func TestCableLends(t *testing.T) {
	a, z, err := NewCable(1)
	check(t, err)
	var f Frame
	a.Send(Frame{Data: []byte{1}})
	z.Next(0, &f)
	for i := range byte(3) {
		a.Send(Frame{Data: []byte{2 + i}})
		if f.Data[0] != 1+i {
			t.Errorf("the lent frame became %d", f.Data[0])
		}
		z.Next(0, &f)
	}
}
