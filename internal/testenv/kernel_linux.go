package testenv

import (
	"errors"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// KernelMAC is the address of the devices of KernelGRO and KernelGSO.
var KernelMAC = []byte{2, 0, 0, 0, 0, 1}

// ErrDisturbed: the machine was too busy to hand the kernel a window of frames
// within one tick. The test should use a smaller window or give up.
var ErrDisturbed = errors.New("the kernel's tick fell into every attempt")

const (
	markerType = 0x88b6 // EtherType for local experiments (IEEE 802)
	settle     = 6 * time.Millisecond
	attempts   = 20
)

// A KernelGRO is the running kernel's GRO. Packets carry no receive hash, so
// all flows share one bucket of 8 packets.
type KernelGRO struct {
	tap  *TAP
	sock *PacketSocket
}

// OpenKernelGRO makes a TAP "gro0" with NAPI in this namespace (NewNet), with
// GRO and the named features on ("rx-udp-gro-forwarding", "rx-gro-list").
func OpenKernelGRO(t testing.TB, features ...string) *KernelGRO {
	t.Helper()
	tap := OpenTAP(t, "gro0", unix.IFF_NAPI)
	UpLink(t, tap.Name, 9000, KernelMAC)
	SetSysfs(t, tap.Name, "gro_flush_timeout", "3000000") // ns
	for _, feature := range append(features, "rx-gro") {
		SetFeature(t, tap.Name, feature, true)
	}
	return &KernelGRO{tap: tap, sock: OpenPacket(t, tap.Name, true)}
}

// Run hands the kernel frames as one poll and returns the packets that come
// out, in order. The kernel ends a poll at a tick of its clock, so the frames
// are written between two ticks, and again if that did not work. A softirq
// deferred to a thread can still split a window: ask again before believing a
// difference.
func (k *KernelGRO) Run(frames [][]byte) ([]Packet, error) {
	for range attempts {
		k.drain()
		start := nextTick()
		for _, f := range frames {
			if err := k.tap.Write(f); err != nil {
				return nil, err
			}
		}
		undisturbed := tick() == start
		if out := k.drain(); undisturbed {
			return out, nil
		}
	}
	return nil, ErrDisturbed
}

// drain waits until every held packet is old, and lets a marker frame flush
// them. The kernel delivers the marker with them.
func (k *KernelGRO) drain() (out []Packet) {
	time.Sleep(settle)
	if k.tap.Write(markerFrame()) != nil {
		return nil
	}
	return untilMarker(k.sock)
}

// A KernelGSO is the running kernel's software segmentation.
type KernelGSO struct{ send, receive *PacketSocket }

// OpenKernelGSO makes a pair of devices "gso0" and "gso1" with that MTU in
// this namespace (NewNet), whose sender has no offloads.
func OpenKernelGSO(t testing.TB, mtu int) *KernelGSO {
	t.Helper()
	AddVeth(t, "gso0", "gso1")
	for _, dev := range []string{"gso0", "gso1"} {
		for _, feature := range []string{
			"rx-gro", "tx-tcp-segmentation", "tx-tcp-ecn-segmentation", "tx-tcp6-segmentation",
			"tx-tcp-mangleid-segmentation", "tx-udp-segmentation", "tx-checksum-ip-generic",
		} {
			SetFeature(t, dev, feature, false)
		}
	}
	UpLink(t, "gso1", mtu, nil)
	UpLink(t, "gso0", mtu, KernelMAC)
	return &KernelGSO{send: OpenPacket(t, "gso0", true), receive: OpenPacket(t, "gso1", false)}
}

// Run sends one packet with its virtio-net header, and returns the segments
// that reach the other device. The error is the kernel's refusal.
func (k *KernelGSO) Run(vnet [VNetBytes]byte, packet []byte) ([]Packet, error) {
	if err := k.send.Send(vnet, packet); err != nil {
		return nil, err
	}
	if err := k.send.Send([VNetBytes]byte{}, markerFrame()); err != nil {
		return nil, err
	}
	return untilMarker(k.receive), nil
}

// untilMarker collects packets up to the marker frame, and what follows it at
// once, the marker itself left out.
func untilMarker(s *PacketSocket) (out []Packet) {
	ms := 200
	for {
		p, ok := s.Receive(ms)
		if !ok {
			return out
		}
		if len(p.Data) >= 14 && p.Data[12] == markerType>>8 && p.Data[13] == markerType&0xff {
			ms = 0
			continue
		}
		out = append(out, p)
	}
}

func markerFrame() []byte {
	f := make([]byte, 60)
	copy(f, KernelMAC)
	f[12], f[13] = markerType>>8, markerType&0xff
	return f
}

// tick is the kernel's coarse clock, which moves once a tick.
func tick() int64 {
	var ts unix.Timespec
	if unix.ClockGettime(unix.CLOCK_MONOTONIC_COARSE, &ts) != nil {
		return 0
	}
	return ts.Nano()
}

// nextTick waits for the clock to move.
func nextTick() int64 {
	start := tick()
	for limit := time.Now().Add(time.Second); time.Now().Before(limit); {
		if now := tick(); now != start {
			return now
		}
	}
	return tick()
}
