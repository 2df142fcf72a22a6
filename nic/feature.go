package nic

import (
	"fmt"
	"strings"

	"github.com/millrace-net/millrace/desc"
)

// A Feature is a set of switches of the device.
type Feature uint16

const (
	Checksum   Feature = 1 << iota // verdicts and sums in completions
	Hash                           // receive hash in completions; it always chooses the queue
	VLANStrip                      // 802.1Q tags go into the completion
	LRO                            // TCP segments are merged
	Compress                       // completions are compressed, where the CQ allows it
	Timestamp                      // completions carry the time of arrival
	TSO                            // large TCP packets are cut, IPv4 and IPv6 and in tunnels
	USO                            // so are large UDP packets
	TxChecksum                     // checksums of frames are filled in
	VLANInsert                     // tags are inserted

	DefaultFeatures = Checksum | Hash | VLANStrip | TSO | USO | TxChecksum | VLANInsert
	allFeatures     = VLANInsert<<1 - 1
)

// featureNames are ethtool's, of -K and --set-priv-flags; hw-timestamp stands
// for the receive filter of hardware timestamping.
var featureNames = map[Feature]string{
	Checksum: "rx-checksumming", Hash: "rxhash", VLANStrip: "rx-vlan-hw-parse",
	LRO: "lro", Compress: "rx_cqe_compress", Timestamp: "hw-timestamp",
	TSO: "tso", USO: "tx-udp-segmentation", TxChecksum: "tx-checksumming",
	VLANInsert: "tx-vlan-hw-insert",
}

// FeatureByName finds the feature with ethtool's name.
func FeatureByName(name string) (Feature, bool) {
	for f, n := range featureNames {
		if n == name {
			return f, true
		}
	}
	return 0, false
}

func (f Feature) String() string {
	var names []string
	for bit := Feature(1); bit&allFeatures != 0; bit <<= 1 {
		if f&bit != 0 {
			names = append(names, featureNames[bit])
		}
	}
	return strings.Join(names, ",")
}

// FeatureState is what became of a wish.
type FeatureState struct {
	Feature   Feature
	Requested bool
	Active    bool   // every frame has it
	BlockedBy string // why not, when it is requested and not active
}

// exclusions cannot be had together, whichever is asked for first
// (facts/mlx5e.md 12, bug 63).
var exclusions = []struct {
	a, b Feature
	why  string
}{
	{Compress, Timestamp, "one for a session"},
}

// needs are features that cannot be had without others.
var needs = []struct{ a, b Feature }{{TSO, TxChecksum}, {USO, TxChecksum}}

// Set turns features on or off, from the next Step on. It refuses, and changes
// nothing, what excludes each other and what lacks a feature that it needs. It
// belongs to the goroutine of Step.
func (d *Device) Set(f Feature, on bool) error {
	if f&^allFeatures != 0 {
		return fmt.Errorf("nic: unknown feature %#x", uint16(f&^allFeatures))
	}
	want := d.features | f
	if !on {
		want = d.features &^ f
	}
	if err := exclude(want, f); err != nil {
		return err
	}
	if on && f&LRO != 0 {
		for i, q := range d.queues {
			if q.rq.Type != desc.Striding {
				return fmt.Errorf("nic: lro needs striding queues, queue %d is cyclic", i)
			}
		}
	}
	d.features = want
	if want&LRO != 0 {
		d.lro.allocate()
	}
	for _, q := range d.queues {
		q.setCompression(want)
	}
	return nil
}

func exclude(want, asked Feature) error {
	for _, x := range exclusions {
		if want&x.a == 0 || want&x.b == 0 {
			continue
		}
		wish, other := x.a, x.b
		if asked&x.a == 0 {
			wish, other = x.b, x.a
		}
		return fmt.Errorf("nic: %v excludes %v (%s); turn %v off first",
			wish, other, x.why, other)
	}
	for _, x := range needs {
		if want&x.a == 0 || want&x.b != 0 {
			continue
		}
		if asked&x.b != 0 {
			return fmt.Errorf("nic: %v needs %v; turn %v off first", x.a, x.b, x.a)
		}
		return fmt.Errorf("nic: %v needs %v; turn %v on first", x.a, x.b, x.b)
	}
	return nil
}

// Features says of each feature whether it was asked for and is active, and
// if not, what blocks it.
func (d *Device) Features() []FeatureState {
	var list []FeatureState
	for f := Feature(1); f&allFeatures != 0; f <<= 1 {
		s := FeatureState{Feature: f, Requested: d.features&f != 0}
		if s.Requested {
			s.BlockedBy = d.blocks(f)
			s.Active = s.BlockedBy == ""
		}
		list = append(list, s)
	}
	return list
}

// blocks names what keeps frames from having a feature that is on.
func (d *Device) blocks(f Feature) string {
	if f == VLANInsert && d.cfg.MinInline != desc.InlineNone {
		return "MinInline: a tag would stand in the place of the inline header"
	}
	for i, q := range d.queues {
		compresses := d.features&Compress != 0 && q.rq.CQ.Compression != desc.CompressNone
		switch {
		case f == VLANStrip && q.rq.KeepVLAN:
			return fmt.Sprintf("queue %d keeps its tags", i)
		case f == Compress && !compresses:
			return fmt.Sprintf("queue %d has a completion queue without compression", i)
		case f == Hash && compresses && q.rq.CQ.MiniFormat != desc.MiniHash:
			return featureNames[Compress] + ": only the first completion of a session has a hash"
		}
	}
	return ""
}
