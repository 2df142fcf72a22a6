package nic

import (
	"bytes"
	"testing"

	"github.com/millrace-net/millrace/desc"
)

// A wrong is one thing that a driver may do wrong.
type wrong struct {
	order
	spoil func(r *sendRig) // the WQE at 0 that is posted, or the doorbell
	want  desc.Syndrome    // 0: LocalQPOp
	cfg   Config
}

func control(change func(c *desc.ControlSegment)) func(*sendRig) {
	return func(r *sendRig) { change(r.sq.At(0).Control()) }
}

var (
	plain = order{segs: []seg{part(0, 60)}}
	large = order{op: desc.SendLarge, mss: 10, sums: desc.SendCSumL4,
		header: tcp4(segment{}), segs: []seg{part(0, 35)}}
	several = order{op: desc.SendMulti, segs: []seg{part(0, 60), part(60, 61)}}
)

// with changes a copy of the order.
func (o order) with(change func(o *order)) order {
	change(&o)
	return o
}

var wrongs = map[string]wrong{
	"no segments": {plain, control(func(c *desc.ControlSegment) { c[7] = 0 }), 0, Config{}},
	"one segment": {plain, control(func(c *desc.ControlSegment) { c[7] = 1 }), 0, Config{}},
	"opcode":      {plain, control(func(c *desc.ControlSegment) { c[3] = 0x7f }), 0, Config{}},
	"UMR":         {plain, control(func(c *desc.ControlSegment) { c[3] = 0x25 }), 0, Config{}},
	"index":       {plain, control(func(c *desc.ControlSegment) { c[2] = 1 }), 0, Config{}},
	"queue":       {plain, control(func(c *desc.ControlSegment) { c[6]++ }), 0, Config{}},
	"over the doorbell": {order{segs: many(17, 9)}, func(r *sendRig) { r.pc = 1 },
		0, Config{}},
	"doorbell too large": {plain, func(r *sendRig) { r.pc = 65 }, 0, Config{}},
	"without data":       {order{}, nil, 0, Config{}},
	"inline header over the end": {plain, func(r *sendRig) { r.sq.At(0)[29] = 19 },
		0, Config{}},
	"inline data over the end": {order{segs: []seg{{inline: make([]byte, 12)}}},
		func(r *sendRig) { r.sq.At(0)[35] = 13 }, 0, Config{}},
	"inline data of 1024": {order{segs: []seg{{inline: make([]byte, 12)}}},
		func(r *sendRig) { r.sq.At(0)[34] = 4 }, 0, Config{}},
	"inline data of 0": {order{segs: []seg{{inline: []byte{}}}}, nil, 0, Config{}},
	"length 0":         {order{segs: []seg{part(0, 0)}}, nil, desc.LocalProt, Config{}},
	"end of the page":  {order{segs: []seg{part(4000, 97)}}, nil, desc.LocalProt, Config{}},
	"2 GiB":            {order{segs: []seg{part(0, 1<<31-1)}}, nil, desc.LocalLength, Config{}},
	"nothing mapped":   {order{segs: []seg{{n: 9, iova: 1 << 60}}}, nil, desc.LocalProt, Config{}},
	"too long":         {order{segs: many(16, 4096)}, nil, desc.LocalLength, Config{}},
	"too long with a tag": {order{tag: 1, segs: append(many(15, 4096), part(0, 4093))}, nil,
		desc.LocalLength, Config{}},
	"tag without addresses": {order{tag: 1, segs: []seg{part(0, 11)}}, nil, desc.LocalLength,
		Config{}},

	"LSO without MSS":    {large.with(func(o *order) { o.mss = 0 }), nil, 0, Config{}},
	"LSO without header": {large.with(func(o *order) { o.header = nil }), nil, 0, Config{}},
	"LSO without checksum": {large.with(func(o *order) { o.sums = desc.SendCSumL3 }), nil, 0,
		Config{}},
	"LSO header too short": {large.with(func(o *order) { o.header = o.header[:50] }), nil, 0,
		Config{}},
	"LSO header too long": {large.with(func(o *order) {
		o.header = append(bytes.Clone(o.header), 1, 2)
	}), nil, 0, Config{}},
	"LSO of ARP": {large.with(func(o *order) { o.header = ethernet(0x0806, make([]byte, 28)) }),
		nil, 0, Config{}},
	"LSO length 0": {large.with(func(o *order) { o.segs = []seg{part(0, 0)} }), nil,
		desc.LocalProt, Config{}},
	"LSO tunnel without inner checksum": {large.with(func(o *order) {
		o.header = vxlan4(o.header)
	}), nil, 0, Config{}},
	"LSO frames too long": {large.with(func(o *order) {
		o.mss, o.segs = 0xffff, many(17, 4096)
	}), nil, desc.LocalLength, Config{}},
	"LSO of 129 datagrams": {large.with(func(o *order) {
		o.mss, o.header, o.segs = 1, udp4(42), []seg{part(0, 129)}
	}), nil, 0, Config{}},

	"multi without data": {several.with(func(o *order) { o.segs = nil }), nil, 0, Config{}},
	"multi of 61 segments": {several.with(func(o *order) { o.segs = many(59, 20) }), nil, 0,
		Config{}},
	"multi with header": {several.with(func(o *order) { o.header = make([]byte, 18) }), nil, 0,
		Config{}},
	"multi, second of length 0": {several.with(func(o *order) {
		o.segs = []seg{part(0, 60), part(0, 0)}
	}), nil, desc.LocalProt, Config{}},

	"checksum off": {plain.with(func(o *order) { o.sums = desc.SendCSumL3 }), nil, 0,
		Config{Off: TSO | USO | TxChecksum}},
	"tag off":     {plain.with(func(o *order) { o.tag = 5 }), nil, 0, Config{Off: VLANInsert}},
	"tso off":     {large, nil, 0, Config{Off: TSO}},
	"UDP tso off": {large.with(func(o *order) { o.header = udp4(42) }), nil, 0, Config{Off: USO}},
	"min inline L2": {plain.with(func(o *order) { o.header = pattern(17) }), nil, 0,
		Config{MinInline: desc.InlineL2}},
	"min inline and multi": {several, nil, 0, Config{MinInline: desc.InlineL2}},
	"min inline and tag": {plain.with(func(o *order) { o.tag = 5 }), nil, 0,
		Config{MinInline: desc.InlineL2}},
}

// What a driver may do wrong ends in an error completion, once, and nothing of
// it is sent; the rest is flushed (facts/mlx5e.md 13).
func TestSendErrors(t *testing.T) {
	for name, c := range wrongs {
		t.Run(name, func(t *testing.T) {
			for _, cable := range []int{0, 64} {
				testWrong(t, c, cable)
			}
		})
	}
}

func testWrong(t *testing.T, c wrong, cable int) {
	if c.want == 0 {
		c.want = desc.LocalQPOp
	}
	r := newSendRig(t, c.cfg, cable)
	r.write(c.order)
	if c.spoil != nil {
		c.spoil(r)
	}
	r.ring()
	e, w, ok := r.next()
	if !ok || w.Opcode() != desc.OpReqErr || e.Syndrome() != c.want || w.WQECounter() != 0 {
		t.Fatalf("completed %v, opcode %d, want %v", ok, w.Opcode(), c.want)
	}
	s := r.dev.Stats()
	if r.sq.State() != desc.Error || s.TxPacketsPhy != 0 || s.TxErrors == 0 || s.QueueStops != 1 {
		t.Errorf("state %d: %+v", r.sq.State(), s)
	}
	r.step()
	if e, _, ok = r.next(); ok && e.Syndrome() != desc.WRFlush && e.Syndrome() != desc.LocalQPOp {
		t.Error("the error is completed twice")
	}
	// The device works on after a reset, in the cable's next slot, too.
	r.reset()
	if c.cfg.MinInline == desc.InlineNone {
		last := r.write(plain)
		r.ring()
		r.completed(last)
	}
}

// A WQE that crosses the edge of a fragment is none.
func TestSendOverTheEdge(t *testing.T) {
	cq, err := desc.NewCQ(7, desc.CompressNone, desc.MiniCSum)
	check(t, err)
	r := newSendRig(t, Config{}, 200)
	r.sq, err = desc.NewSQ(7, rigNumber, cq)
	check(t, err)
	_, err = r.dev.AddSQ(r.sq)
	check(t, err)
	r.sq.Modify(desc.Reset, desc.Ready)
	for range 62 {
		r.post(part(0, 60))
	}
	r.ring()
	r.take()
	b := (&order{segs: many(7, 9)}).bytes(r)
	copy(r.sq.Fragment(r.pc), b)
	copy(r.sq.Fragment(r.pc+2), b[128:])
	r.sq.At(r.pc).Control().Set(uint16(r.pc), desc.SendFrame, rigNumber, 9)
	r.pc += 3
	r.ring()
	c, w, ok := r.next()
	if !ok || w.Opcode() != desc.OpReqErr || c.Syndrome() != desc.LocalQPOp {
		t.Error("it was taken")
	}
	r.arrive()
}

// Bits that the format does not know are not looked at.
func TestSendUnknownBits(t *testing.T) {
	r := newSendRig(t, Config{}, 4)
	c := r.write(order{sums: 0x0f, mss: 77, segs: []seg{part(0, 60)}})
	r.ring()
	r.completed(c)
	r.arrive(patterned(part(0, 60)))
}
