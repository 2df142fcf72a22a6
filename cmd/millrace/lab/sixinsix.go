package lab

import (
	"encoding/binary"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/nic"
)

const (
	outerBytes = header.IPv6Bytes
	innerIPv6  = 41 // next header of IPv6 in IPv6 (RFC 2473)
)

// sixInSix puts an IPv6 header in front of the IPv6 packets of another wire.
// It lends its frame until the next one.
type sixInSix struct {
	inner nic.Wire
	frame []byte
}

// Next lends the next frame.
func (w *sixInSix) Next(now int64, f *nic.Frame) bool {
	if !w.inner.Next(now, f) {
		return false
	}
	const link = header.EthernetBytes
	w.frame = append(w.frame[:0], f.Data[:link]...)
	outer := [outerBytes]byte{0: 0x60, 6: innerIPv6, 7: 64, 8: 0xfd, 23: 9, 24: 0xfd, 39: 8}
	binary.BigEndian.PutUint16(outer[4:], uint16(len(f.Data)-link))
	w.frame = append(append(w.frame, outer[:]...), f.Data[link:]...)
	f.Data = w.frame
	return true
}
