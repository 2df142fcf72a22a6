package nic

import (
	"bytes"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/internal/testenv"
)

// Errors of the device are drawn for WQEs of every kind, once each.
func TestSendFault(t *testing.T) {
	for name, o := range map[string]order{"send": plain, "large": large, "multi": several} {
		r := newSendRig(t, Config{Faults: Faults{
			Device: DeviceFaults{Error: 1000, Syndrome: desc.RemoteOp},
		}}, 8)
		r.write(o)
		r.ring()
		e, w, ok := r.next()
		if !ok || w.Opcode() != desc.OpReqErr || e.Syndrome() != desc.RemoteOp {
			t.Errorf("%s: no error", name)
		}
		if s := r.dev.Stats(); s.Faults.Errors != 1 || s.TxPacketsPhy != 0 || s.TxErrors != 1 {
			t.Errorf("%s: %+v", name, s)
		}
	}
}

// Completions that lie are counted as what they are; what is sent is not
// touched.
func TestSendHostile(t *testing.T) {
	for name, f := range map[string]HostileFaults{
		"fault_send_counter":  {SendCounter: 1000},
		"fault_send_opcode":   {SendOpcode: 1000},
		"fault_send_twice":    {SendTwice: 1000},
		"fault_send_spurious": {SendSpurious: 1000},
	} {
		r := newSendRig(t, Config{Faults: Faults{Hostile: f}}, 8)
		c := r.write(plain)
		r.ring()
		r.arrive(patterned(plain.segs...))
		var got []desc.OwnWord
		for _, w, ok := r.next(); ok; _, w, ok = r.next() {
			got = append(got, w)
		}
		s := r.dev.Stats()
		if n := maps.Collect(s.Ethtool())[name]; n != 1 {
			t.Errorf("%s is %d: %+v", name, n, s.Faults)
		}
		bad := len(got) == 0 || got[0].WQECounter() == c.Index() && got[0].Opcode() == desc.OpReq
		if len(got) == 2 {
			bad = f.SendTwice > 0 && got[0].WQECounter() != got[1].WQECounter()
		}
		if bad {
			t.Errorf("%s: completions %#x", name, got)
		}
	}
}

// A stalled queue sends, and its completions come no more, until it is reset.
func TestSendStall(t *testing.T) {
	r := newSendRig(t, Config{Faults: Faults{Device: DeviceFaults{Stall: 1000}}}, 100)
	for range 20 {
		r.write(plain)
		r.ring()
	}
	if _, _, ok := r.next(); ok || len(r.take()) != 20 {
		t.Error("completed, or not sent")
	}
	r.dev.faults.Device.Stall = 0
	r.reset()
	c := r.write(plain)
	r.ring()
	r.completed(c)
}

// More completions than the device keeps are withheld: it stops taking WQEs,
// and goes on.
func TestSendMuteLong(t *testing.T) {
	r := newSendRig(t, Config{}, 0)
	cq, err := desc.NewCQ(13, desc.CompressNone, desc.MiniCSum)
	check(t, err)
	r.sq, err = desc.NewSQ(13, rigNumber, cq)
	check(t, err)
	_, err = r.dev.AddSQ(r.sq)
	check(t, err)
	r.sq.Modify(desc.Reset, desc.Ready)
	r.dev.senders[1].mute = -1
	for range 2 * maxPending {
		r.write(plain)
	}
	r.ring()
	if s := r.dev.Stats(); s.TxPacketsPhy >= maxPending || s.CQOverruns != 0 {
		t.Errorf("%+v", s)
	}
	r.dev.senders[1].mute = 0
	r.step()
	r.step()
	if r.takeCompletions(0); r.seen != 2*maxPending {
		t.Errorf("%d completions", r.seen)
	}
}

// The books under all faults at once: what arrives at the far end is what the
// device counts, in order and each once, and no WQE is in no counter or in two.
func TestSendBooks(t *testing.T) {
	seed := testenv.Seed(t)
	for n := range testenv.Seeds(60) {
		t.Run(fmt.Sprint(n), func(t *testing.T) { runSendBooks(t, seed+uint64(n)) })
	}
}

func runSendBooks(t *testing.T, seed uint64) {
	rnd := testenv.Rand(seed, 2)
	faults := everything(20)
	faults.Device.Stall = 5
	faults.Hostile.SendCounter, faults.Hostile.SendOpcode = 20, 20
	faults.Hostile.SendTwice, faults.Hostile.SendSpurious = 20, 20
	r := newSendRig(t, Config{Seed: seed, Faults: faults}, 6)
	var want, got [][]byte
	for range 100 {
		for range rnd.IntN(4) {
			if uint16(r.pc)-r.dev.senders[0].taken > 20 {
				break
			}
			o, frames := r.any(rnd)
			r.write(o)
			want = append(want, frames...)
		}
		r.ring()
		got = append(got, r.take()...)
		r.takeCompletions(0)
		if r.sq.State() == desc.Error || rnd.IntN(20) == 0 {
			r.reset()
		}
	}
	got = append(got, r.take()...)
	if s := r.dev.Stats(); int(s.TxPacketsPhy) != len(got) || len(got) == 0 {
		t.Fatalf("%d frames arrived: %+v", len(got), s)
	}
	for i, f := range got {
		k := slices.IndexFunc(want, func(b []byte) bool { return bytes.Equal(b, f) })
		if k < 0 {
			t.Fatalf("frame %d came twice, too late, or was never posted: %.100x", i, f)
		}
		want = want[k+1:]
	}
	r.dev.faults.Faults = Faults{}
	r.reset()
	c := r.write(plain)
	r.ring()
	if r.completed(c); len(r.take()) != 1 {
		t.Error("the queue does not work when the faults have ended")
	}
}

// any is an order of any kind, and the frames it is for. The length of the
// first one tells them apart.
func (r *sendRig) any(rnd *rand.Rand) (o order, frames [][]byte) {
	r.serial++
	n := r.serial
	switch rnd.IntN(3) {
	case 0:
		frames = [][]byte{udp4(60 + n)}
		return order{segs: r.shredded(rnd, frames[0], 20)}, frames
	case 1:
		frames = [][]byte{pattern(60 + n), pattern(61)}
		o = order{op: desc.SendMulti, segs: r.place(frames[0], pageBytes)}
		if len(o.segs) > 1 { // over the end of a page
			return r.any(rnd)
		}
		o.segs = append(o.segs, seg{inline: frames[1]})
		return o, frames
	}
	p := largePackets(1000 + n)["tcp4"]
	return r.lso(p.frame, int(p.gso.HdrLen), 300, 900), p.want(r.t, 300)
}
