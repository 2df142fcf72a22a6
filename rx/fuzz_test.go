package rx

import (
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/xdp"
)

// hostileConfigs are what FuzzCompletions chooses from.
var hostileConfigs = []Config{
	{Entries: 8},
	{Entries: 8, MTU: 9000, Type: Striding},
	{Entries: 8, Type: Cyclic},
	{Entries: 8, MTU: 9000, Type: Cyclic},
	{Entries: 8, Offloads: Offloads{LRO: true, Compression: desc.CompressBasic}},
	{Entries: 8, Type: Cyclic, Offloads: Offloads{Compression: desc.CompressBasic}},
	{Entries: 8, Offloads: Offloads{Compression: desc.CompressEnhanced}},
	{Entries: 8, Type: Cyclic, Offloads: Offloads{Compression: desc.CompressEnhanced}},
	{Entries: 8, XDP: xdp.Config{Program: pass}},
	{Entries: 8, MTU: 9000, Type: Striding, XDP: xdp.Config{Program: pass, Frags: true}},
	{Entries: 8, MTU: 9000, Type: Cyclic, XDP: xdp.Config{Program: pass, Frags: true}},
}

// FuzzCompletions lets the device write any bytes as completions, between
// honest ones: nothing is read or written outside, every page stays in one
// place, and the books balance.
func FuzzCompletions(f *testing.F) {
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) == 0 {
			return
		}
		w := hostileWorld(t, hostileConfigs[int(data[0])%len(hostileConfigs)])
		for data = data[1:]; len(data) > 0 && !t.Failed(); {
			op := data[0]
			data = data[1:]
			switch op % 4 {
			case 0:
				w.send()
				w.d.flush()
			case 1:
				data = data[w.write(data):]
			case 2:
				w.poll(int(op))
			case 3:
				w.free()
			}
			w.law()
		}
		w.end()
	})
}

func hostileWorld(t *testing.T, cfg Config) *world {
	var err error
	w := &world{t: t, r: testenv.Rand(1, 1), spoilt: true}
	if w.region, err = mem.Open(mem.Config{Pages: 700}); err != nil {
		t.Fatal(err)
	}
	w.src = &source{w.region, 700}
	cfg.Memory.Region, cfg.Memory.Provider = w.region, w.src
	if cfg.XDP.Program != nil {
		cfg.XDP.Program = w.program
	}
	if w.q, err = New(cfg, dma.New(dma.Config{Mode: dma.Bounce, Poison: true})); err != nil {
		t.Fatal(err)
	}
	w.d = newDevice(w.q)
	w.wire()
	return w
}

// write puts up to 64 bytes into the next slot, the lap made right so that the
// driver looks at them.
func (w *world) write(b []byte) int {
	if w.d.follow(); w.d.room() < 1 {
		return 0
	}
	var c desc.CQE
	n := copy(c[:], b)
	slot, lap := w.q.cq.At(w.d.cc), w.q.cq.Lap(w.d.cc)
	copy(slot[:60], c[:60])
	word := desc.OwnWord(c.WQECounter())<<16 | desc.OwnWord(uint8(lap))<<8 |
		desc.OwnWord(c.OpOwn()&^1) | desc.OwnWord(lap&1)
	slot.Publish(word)
	w.d.cc++
	return n
}
