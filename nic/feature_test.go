package nic

import (
	"strings"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
)

func wantError(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || !strings.Contains(err.Error(), text) {
		t.Errorf("%v, want %q", err, text)
	}
}

// What excludes each other is refused, whichever comes first.
func TestExclusions(t *testing.T) {
	b := newBench(t, linear1500, Config{})
	check(t, b.dev.Set(Compress, true))
	wantError(t, b.dev.Set(Timestamp, true), "nic: hw-timestamp excludes rx_cqe_compress "+
		"(one for a session); turn rx_cqe_compress off first")
	check(t, b.dev.Set(Compress, false))
	check(t, b.dev.Set(Timestamp, true))
	wantError(t, b.dev.Set(Compress, true), "nic: rx_cqe_compress excludes hw-timestamp")
	if b.dev.features != DefaultFeatures|Timestamp {
		t.Errorf("features are %v", b.dev.features)
	}
	_, err := New(Config{On: Compress | Timestamp}, b.dom)
	wantError(t, err, "excludes")

	c := newBench(t, cyclic2, Config{})
	wantError(t, c.dev.Set(LRO, true), "lro needs striding queues, queue 0 is cyclic")
	check(t, b.dev.Set(LRO, true))
	_, err = b.dev.AddRQ(c.rq)
	wantError(t, err, "turn lro off first")
}

func TestFeatureStates(t *testing.T) {
	l := linear1500
	l.compression, l.format, l.KeepVLAN = desc.CompressBasic, desc.MiniCSumStride, true
	b := newBench(t, l, Config{On: Compress})
	blocked := map[Feature]string{
		Hash:      "rx_cqe_compress: only the first",
		VLANStrip: "queue 0 keeps its tags",
	}
	for _, s := range b.dev.Features() {
		requested := s.Feature&(DefaultFeatures|Compress) != 0
		why, isBlocked := blocked[s.Feature]
		if s.Requested != requested || s.Active != (requested && !isBlocked) ||
			!strings.HasPrefix(s.BlockedBy, why) || isBlocked != (s.BlockedBy != "") {
			t.Errorf("%+v", s)
		}
	}
	plain := newBench(t, linear1500, Config{On: Compress})
	for _, s := range plain.dev.Features() {
		ok := !s.Active && strings.Contains(s.BlockedBy, "without compression")
		if s.Feature == Compress && !ok {
			t.Errorf("%+v", s)
		}
	}
}

func TestFeatureNames(t *testing.T) {
	for f, name := range featureNames {
		if got, ok := FeatureByName(name); !ok || got != f || f.String() != name {
			t.Errorf("%s is %v, prints as %v", name, got, f)
		}
	}
	if _, ok := FeatureByName("rx-gro-hw"); ok {
		t.Error("rx-gro-hw is known")
	}
	if s := (Checksum | LRO).String(); s != "rx-checksumming,lro" {
		t.Errorf("%q", s)
	}
}

func TestSetupErrors(t *testing.T) {
	dom := dma.New(dma.Config{})
	_, err := New(Config{}, nil)
	wantError(t, err, "no dma.Domain")
	_, err = New(Config{Burst: -1}, dom)
	wantError(t, err, "Burst is -1")
	_, err = New(Config{On: 1 << 12}, dom)
	wantError(t, err, "unknown feature 0x1000")
	_, err = New(Config{Faults: Faults{Wire: WireFaults{Drop: 1001}}}, dom)
	wantError(t, err, "Faults.Wire.Drop is 1001, want 0 to 1000 per mille")
	_, err = New(Config{Faults: Faults{Device: DeviceFaults{HoldSteps: -1}}}, dom)
	wantError(t, err, "HoldSteps is -1")
	_, _, err = NewCable(0)
	wantError(t, err, "a cable for 0 frames")

	b := newBench(t, small, Config{})
	_, err = b.dev.AddRQ(b.rq)
	wantError(t, err, "queue 0 has this RQ or its CQ already")
	fcs := small
	fcs.KeepFCS = true
	_, err = b.dev.AddRQ(newDriver(t, fcs).rq)
	wantError(t, err, "turn KeepFCS off")
	cyc := cyclic2
	cyc.compression, cyc.format = desc.CompressBasic, desc.MiniCSumStride
	_, err = b.dev.AddRQ(newDriver(t, cyc).rq)
	wantError(t, err, "stride index")
	for i := 1; i < maxQueues; i++ {
		_, err = b.dev.AddRQ(&desc.RQ{Type: desc.Striding, CQ: &desc.CQ{}})
		check(t, err)
	}
	_, err = b.dev.AddRQ(newDriver(t, small).rq)
	wantError(t, err, "has 128 queues and takes no more")
}

// What is cut has checksums that differ: neither kind of tso without
// tx-checksumming, whichever is turned on or off first.
func TestSegmentationNeedsChecksums(t *testing.T) {
	for _, f := range []Feature{TSO, USO} {
		r := newSendRig(t, Config{Off: TSO | USO | TxChecksum}, 1)
		err := r.dev.Set(f, true)
		if err == nil || err.Error() != "nic: "+f.String()+" needs tx-checksumming; "+
			"turn tx-checksumming on first" {
			t.Error(err)
		}
		check(t, r.dev.Set(f|TxChecksum, true))
		err = r.dev.Set(TxChecksum, false)
		if err == nil || err.Error() != "nic: "+f.String()+" needs tx-checksumming; "+
			"turn "+f.String()+" off first" {
			t.Error(err)
		}
		check(t, r.dev.Set(f|TxChecksum, false))
	}
	if _, err := New(Config{Off: TxChecksum}, newSendRig(t, Config{}, 1).dom); err == nil {
		t.Error("New takes what Set refuses")
	}
}
