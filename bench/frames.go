package main

import (
	"bytes"
	"encoding/binary"

	"github.com/millrace-net/millrace/checksum"
)

// The packets of every contest, in Go and in dpdk/bench.c.
const (
	mss     = 1448 // payload with timestamps in 1500 bytes
	linkLen = 14
	headLen = linkLen + 20 + 32
	segs    = 44 // of a large packet
)

// frame is segment n of a flow: Ethernet, IPv4, TCP with timestamps, all
// checksums good.
func frame(flow, n, payload int) []byte {
	b := make([]byte, headLen+payload)
	copy(b, []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0, 0x45})
	ip, tcp := b[linkLen:], b[linkLen+20:]
	be := binary.BigEndian
	be.PutUint16(ip[2:], uint16(len(ip)))
	be.PutUint16(ip[4:], uint16(n))
	copy(ip[6:], []byte{0x40, 0, 64, 6, 0, 0, 10, 0, 0, 1, 10, 0, 0, 2})
	be.PutUint16(ip[10:], ^checksum.Sum(ip[:20]))
	be.PutUint16(tcp, uint16(1000+flow))
	be.PutUint16(tcp[2:], 80)
	be.PutUint32(tcp[4:], uint32(n*mss))
	be.PutUint32(tcp[8:], 1)
	copy(tcp[12:], []byte{0x80, 0x10, 3, 232, 0, 0, 0, 0, 1, 1, 8, 10, 0, 0, 0, 5, 0, 0, 0, 6})
	copy(tcp[32:], bytes.Repeat([]byte{'a'}, payload))
	pseudo := checksum.Pseudo4(ip[12:16], ip[16:20], 6, len(tcp))
	be.PutUint16(tcp[16:], ^checksum.Combine(pseudo, checksum.Sum(tcp), false))
	return b
}

// burst is n frames of the given number of flows, taking turns.
func burst(flows, n int) [][]byte {
	frames := make([][]byte, n)
	for i := range frames {
		frames[i] = frame(i%flows, i/flows, mss)
	}
	return frames
}
