package tx

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/nic"
)

// The software NIC reads the WQEs as the device of these tests does: the same
// frames leave, whoever cuts, fills in and inserts, in all ways and modes.
func TestSameBytesFromNIC(t *testing.T) {
	for _, d := range modes {
		for _, c := range copybreaks {
			throughNIC(t, Config{Copybreak: c}, nic.Config{}, d)
		}
	}
	for mode := range desc.NumMinInline {
		for _, c := range []Copybreak{{}, {Way: Inline, Bytes: 972}, {Way: Premapped, Bytes: 300}} {
			for _, without := range []Offload{0, TSO | VLANInsert, allOffloads} {
				throughNIC(t, Config{MinInline: mode, Copybreak: c, Without: without},
					nic.Config{MinInline: mode}, modes[3])
			}
		}
	}
	throughNIC(t, Config{Without: allOffloads},
		nic.Config{Off: nic.TSO | nic.USO | nic.TxChecksum | nic.VLANInsert}, modes[3])
}

func throughNIC(t *testing.T, cfg Config, n nic.Config, d dma.Config) {
	t.Helper()
	what := fmt.Sprint(d.Mode, " ", cfg.Copybreak, " ", cfg.MinInline, " without ", cfg.Without)
	cfg.BufBytes, cfg.MTU = 2048, 1600
	r := newRig(t, cfg, d)
	dev, err := nic.New(n, r.dom)
	if err != nil {
		t.Fatal(err)
	}
	a, b, err := nic.NewCable(4096)
	if err != nil {
		t.Fatal(err)
	}
	dev.PlugOut(a)
	if _, err := dev.AddSQ(r.q.SQ()); err != nil {
		t.Fatal(err)
	}
	want := r.mix()
	for now := range int64(200) {
		r.post()
		dev.Step(now)
		r.reap()
	}
	if s := r.q.Stats(); s.InFlight != 0 || s.Recover != 0 || s.Dropped != 0 || r.batch.Len() != 0 {
		t.Errorf("%s: %d left, %+v", what, r.batch.Len(), s)
	}
	var f nic.Frame
	for k := range want {
		if !b.Next(0, &f) {
			t.Fatalf("%s: %d frames left, want %d", what, k, len(want))
		}
		if !bytes.Equal(f.Data, want[k]) {
			t.Fatalf("%s: frame %d of %d bytes, want %d:\n%x\n%x", what, k,
				len(f.Data), len(want[k]), f.Data, want[k])
		}
	}
	if b.Next(0, &f) {
		t.Errorf("%s: more than %d frames left", what, len(want))
	}
	r.close()
}

// Faults of the NIC at random, on the send side: whatever it says, all is home
// once, and what was mapped is unmapped.
func TestNICFaults(t *testing.T) {
	faults := nic.Faults{Device: nic.DeviceFaults{Hold: 5, Stall: 100, Error: 100}}
	for seed := range uint64(8) {
		r := newRig(t, Config{Blocks: 128, TimeoutNs: 50000}, dma.Config{Mode: dma.Strict})
		dev, err := nic.New(nic.Config{Seed: seed, Faults: faults}, r.dom)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := dev.AddSQ(r.q.SQ()); err != nil {
			t.Fatal(err)
		}
		for k := range int64(400) {
			for range 5 {
				r.add(66, 100)
			}
			i, _ := r.packetOf(tcp4Kind(), 1000, 0, 3000)
			r.put(i)
			r.post()
			dev.Step(k)
			r.reap()
			for r.batch.Len() > 200 {
				r.post()
				dev.Step(k)
				r.reap()
			}
		}
		if s := r.q.Stats(); s.Recover == 0 || s.Done == 0 || s.Lost == 0 {
			t.Errorf("seed %d: %+v", seed, s)
		}
		r.close()
	}
}
