package xdp

import (
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/header"
)

// What the completion says about the frame (facts/mlx5e.md 6.6). ok is false
// where the device does not say it.

// Hash is the receive hash and what it covers.
func (b *Buff) Hash() (hash uint32, covers desc.HashType, ok bool) {
	if !b.traits.Hash || b.cqe.HashType() == 0 {
		return 0, 0, false
	}
	return b.cqe.Hash(), b.cqe.HashType(), true
}

// VLAN is the EtherType and TCI of the tag that the device took off the frame.
func (b *Buff) VLAN() (typ, tci uint16, ok bool) {
	if !b.cqe.HdrType().VLANStripped() {
		return 0, 0, false
	}
	return header.TypeVLAN, b.cqe.VLAN(), true
}

// Timestamp is when the frame arrived, in ns of the device's clock.
func (b *Buff) Timestamp() (ns int64, ok bool) {
	if !b.traits.Timestamps || b.cqe.Timestamp() == 0 {
		return 0, false
	}
	return int64(b.cqe.Timestamp()), true
}

// Link is the kind of frame. Bytes of any kind but Ethernet have no Ethernet
// header in front.
func (b *Buff) Link() header.LinkType {
	return min(header.LinkType(b.cqe.FlowMeta()), header.LinkOpaque)
}
