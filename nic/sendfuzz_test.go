package nic

import (
	"encoding/binary"
	"testing"

	"github.com/millrace-net/millrace/desc"
)

// Bits of the first byte of a fuzzed WQE.
const (
	fuzzControl = 1 << iota // index and queue are right
	fuzzMemory              // pointers lead to pages
	fuzzFull                // the cable is full for a while
	fuzzMeddle              // the WQE is overwritten while it waits
	fuzzAbrupt              // the queue is stopped while it waits
)

// Whatever a driver writes into a send queue, the device reads nothing outside
// the WQE and the domain, keeps its books, sends no frame that is longer than
// frames are, and works again after a reset.
func FuzzSend(f *testing.F) {
	var r sendRig
	r.iova = make([]uint64, 1)
	for _, o := range []order{plain, large, several, {header: udp4(60)}, {tag: 5, segs: plain.segs},
		{segs: []seg{{inline: pattern(20)}, part(0, 1000)}, sums: everySum},
		{op: desc.SendLarge, mss: 7, sums: everySum, header: vxlan4(tcp4(segment{})),
			segs: []seg{{inline: pattern(100)}}}} {
		b := o.bytes(&r)
		(*desc.ControlSegment)(b).Set(0, max(o.op, desc.SendFrame), 0, len(b)/16)
		f.Add(byte(fuzzControl|fuzzMemory), b)
		f.Add(byte(fuzzControl|fuzzMemory|fuzzFull), b)
		f.Add(byte(fuzzControl|fuzzMemory|fuzzFull|fuzzMeddle), b)
		f.Add(byte(fuzzControl|fuzzMemory|fuzzFull|fuzzAbrupt), b)
		f.Add(byte(0), b)
	}
	f.Fuzz(func(t *testing.T, how byte, b []byte) {
		if len(b) < 64 || len(b) > 1024 {
			return
		}
		r := newSendRig(t, Config{}, 5)
		for range uint(how) % 64 {
			r.nop()
		}
		r.ring()
		r.hostile(how, b)
		for range 200 {
			if r.dev.Stats().TxPending == 0 {
				break
			}
			for _, frame := range r.take() {
				if len(frame) == 0 || len(frame) > desc.MaxBytes {
					t.Fatalf("a frame of %d bytes", len(frame))
				}
			}
			r.takeCompletions(0)
			r.step()
		}
		r.take()
		r.reset()
		c := r.write(plain)
		r.ring()
		r.completed(c)
		r.arrive(patterned(plain.segs...))
	})
}

// hostile posts the bytes as they are, but for what how says.
func (r *sendRig) hostile(how byte, b []byte) {
	b = append([]byte{}, b...)
	if how&fuzzControl != 0 {
		binary.BigEndian.PutUint16(b[1:], uint16(r.pc))
		b[4], b[5], b[6] = 0, 0, rigNumber
	}
	for at := 32; how&fuzzMemory != 0 && at+16 <= len(b); at += 16 {
		if d := (*desc.DataSegment)(b[at:]); d.ByteCount()&desc.InlineData == 0 {
			v := d.Addr()
			d.Set(d.ByteCount()%5000, 0, r.iova[v>>16%rigPages]+v%pageBytes)
		}
	}
	if how&fuzzFull == 0 {
		r.far = nil
		near, far, err := NewCable(1 << 10)
		check(r.t, err)
		r.far = far
		r.dev.PlugOut(near)
	}
	for i := 0; i < len(b); i += 64 {
		copy(r.sq.At(r.pc + uint32(i/64))[:], b[i:])
	}
	first := r.pc
	r.pc += uint32(len(b)+63) / 64
	r.ring()
	if how&fuzzMeddle != 0 {
		for i := first; i != r.pc; i++ {
			clear(r.sq.At(i)[:])
		}
		r.sq.Producer.Ring(uint32(b[0]))
	}
	if how&fuzzAbrupt != 0 {
		r.sq.Modify(desc.Ready, desc.Error)
	}
}
