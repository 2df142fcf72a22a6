package rx

import "encoding/binary"

// tcpFrame is a frame of n bytes, at least 54: Ethernet, IPv4, TCP without
// options, and a pattern.
func tcpFrame(n int) []byte { return ipv4Frame(n, 6) }

// ipv4Frame is a frame of n bytes with the given protocol.
func ipv4Frame(n int, proto byte) []byte {
	f := make([]byte, n)
	for i := range f {
		f[i] = byte(i*7 + 1)
	}
	binary.BigEndian.PutUint16(f[12:], 0x0800)
	copy(f[14:34], make([]byte, 20))
	f[14], f[22], f[23] = 0x45, 64, proto
	binary.BigEndian.PutUint16(f[16:], uint16(n-14))
	copy(f[26:34], []byte{10, 0, 0, 1, 10, 0, 0, 2})
	if proto == 6 {
		f[46], f[47] = 0x50, 0x10 // 20 bytes, ACK
	}
	return f
}
