package gso

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// A layer puts its header in front of what is inside.
type layer func(inner []byte) []byte

// build makes a frame of layers, the outermost first, around payload.
func build(payload []byte, layers ...layer) []byte {
	b := payload
	for _, l := range slices.Backward(layers) {
		b = l(b)
	}
	return b
}

// rfc1071 is the checksum field over b as the RFC words it.
func rfc1071(b ...[]byte) uint16 {
	var sum uint32
	for i, v := range slices.Concat(b...) {
		sum += uint32(v) << (8 * (1 - i%2))
		sum = sum>>16 + sum&0xffff
	}
	return ^uint16(sum)
}

var (
	be    = binary.BigEndian
	addr4 = []byte{10, 0, 0, 1, 10, 0, 0, 2}
	addr6 = []byte{0: 0xfd, 15: 1, 16: 0xfd, 31: 2}
)

func raw(b ...byte) layer {
	return func(inner []byte) []byte { return slices.Concat(b, inner) }
}

func ether(typ ...byte) layer {
	return raw(append([]byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}, typ...)...)
}

// ip4 is an IPv4 header; opts must have a multiple of 4 bytes.
func ip4(proto byte, id int, opts ...byte) layer {
	return func(inner []byte) []byte {
		h := []byte{0x45 + byte(len(opts)/4), 3, 0, 0, 0, 0, 0x40, 0, 64, proto, 0, 0}
		h = slices.Concat(h, addr4, opts)
		be.PutUint16(h[2:], uint16(len(h)+len(inner)))
		be.PutUint16(h[4:], uint16(id))
		be.PutUint16(h[10:], rfc1071(h))
		return slices.Concat(h, inner)
	}
}

func ip6(next byte, ext ...byte) layer {
	return func(inner []byte) []byte {
		h := []byte{0x60, 5, 0, 7, 0, 0, next, 64}
		be.PutUint16(h[4:], uint16(len(ext)+len(inner)))
		return slices.Concat(h, addr6, ext, inner)
	}
}

func tcp(addrs []byte, seq uint32, flags byte, opts ...byte) layer {
	return func(inner []byte) []byte {
		h := []byte{0, 1, 0, 2, 0, 0, 0, 0, 0, 0, 0, 1, 0, flags, 3, 232, 0, 0, 0, 9}
		be.PutUint32(h[4:], seq)
		h[12] = byte(5+len(opts)/4)<<4 | 1 // AE
		h = append(h, opts...)
		be.PutUint16(h[16:], rfc1071(pseudoBytes(addrs, 6, len(h)+len(inner)), h, inner))
		return slices.Concat(h, inner)
	}
}

// udp is a UDP header; without addrs its checksum is zero.
func udp(addrs []byte, dstPort int) layer {
	return func(inner []byte) []byte {
		h := []byte{0, 9, byte(dstPort >> 8), byte(dstPort), 0, 0, 0, 0}
		be.PutUint16(h[4:], uint16(len(h)+len(inner)))
		if addrs != nil {
			sum := rfc1071(pseudoBytes(addrs, 17, len(h)+len(inner)), h, inner)
			if sum == 0 {
				sum = 0xffff
			}
			be.PutUint16(h[6:], sum)
		}
		return slices.Concat(h, inner)
	}
}

func pseudoBytes(addrs []byte, proto byte, n int) []byte {
	return slices.Concat(addrs, []byte{0, proto, byte(n >> 8), byte(n)})
}

// greSummed is GRE with checksum and key.
func greSummed(inner []byte) []byte {
	h := []byte{0xa0, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 7}
	be.PutUint16(h[4:], rfc1071(h, inner))
	return slices.Concat(h, inner)
}

var vxlan = raw(8, 0, 0, 0, 0, 0, 7, 0)

// merge makes of the segments what GRO makes of them: the headers of the first
// with FIN and PSH of the last, and all payload. What a GSO must write anew is
// spoiled first: rewritten lists the offsets of such 16-bit fields.
func merge(segs [][]byte, g packet.GSO, rewritten []int) (head, payload []byte) {
	head = bytes.Clone(segs[0][:g.HdrLen])
	if g.Type != packet.GSOUDP {
		head[g.CSumStart+13] |= segs[len(segs)-1][g.CSumStart+13] & (header.TCPFin | header.TCPPsh)
	}
	for _, off := range append(rewritten, int(g.CSumStart+g.CSumOffset)) {
		be.PutUint16(head[off:], 0xdead)
	}
	for _, s := range segs {
		payload = append(payload, s[g.HdrLen:]...)
	}
	return head, payload
}

// shred cuts b into pieces of random, often odd or no length.
func shred(rnd *rand.Rand, b []byte) (pieces [][]byte) {
	for len(b) > 0 {
		n := min(rnd.IntN(700), len(b))
		pieces, b = append(pieces, b[:n]), b[n:]
	}
	return append(pieces, nil)
}

// buffers has n buffers of the given size, filled with a canary.
func buffers(n, size int) (bufs [][]byte, sizes []int) {
	bufs, sizes = make([][]byte, n), make([]int, n)
	for i := range bufs {
		bufs[i] = bytes.Repeat([]byte{0xa5}, size)
	}
	return bufs, sizes
}
