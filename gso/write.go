package gso

import (
	"encoding/binary"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
)

// gather fills dst with payload and returns its folded sum. Start has counted
// the bytes.
func (s *Segmenter) gather(dst []byte) (sum uint16) {
	for off := 0; off < len(dst); {
		for s.used == len(s.piece) {
			s.piece, s.used, s.next = s.pieces[s.next], 0, s.next+1
		}
		n := min(len(dst)-off, len(s.piece)-s.used)
		part := copySum(dst[off:off+n], s.piece[s.used:s.used+n])
		s.used += n
		if off > 0 {
			part = checksum.Combine(sum, part, off&1 != 0)
		}
		sum, off = part, off+n
	}
	return sum
}

// fill completes the checksum of a packet that is not cut, if it asks for it.
// Its field holds the sum of the pseudo header. Zero would mean "none" in UDP,
// so Linux sends all ones whatever the protocol (skb_checksum_help).
func (s *Segmenter) fill(buf []byte) {
	if s.sumFrom != 0 {
		put16(buf, s.sumAt, notZero(^checksum.Sum(buf[s.sumFrom:])))
	}
}

// write finishes the transport header of a segment whose payload has the given
// sum.
func (t *transport) write(buf []byte, payload uint32, last bool) {
	n := len(buf) - t.off
	sum := t.sum + payload + uint32(n)
	if !t.tcp {
		h := header.UDPAt(buf, t.off)
		h.SetLength(uint16(n))
		h.SetChecksum(notZero(^fold(sum + uint32(n))))
		return
	}
	flags := t.flags
	if !last {
		flags &^= header.TCPFin | header.TCPPsh
	}
	h := header.TCPAt(buf, t.off)
	h.SetSeq(t.seq)
	h.SetFlags(flags)
	h.SetChecksum(^fold(sum + t.seq>>16 + t.seq&0xffff + uint32(flags)))
	t.seq += t.size
	if !t.cwr {
		t.flags &^= header.TCPCwr
	}
}

// write finishes the IP header.
func (n *network) write(buf []byte) {
	length := len(buf) - n.off
	if n.version == 6 {
		header.IPv6At(buf, n.off).SetPayloadLen(uint16(length - header.IPv6Bytes))
		return
	}
	h := header.IPv4At(buf, n.off)
	h.SetTotalLen(uint16(length))
	h.SetID(n.id)
	h.SetChecksum(^fold(n.sum + uint32(length) + uint32(n.id)))
	n.id += n.step
}

// write finishes the header between two IP headers: buf[:head] are headers,
// the payload behind them has the given sum. All headers have even lengths, so
// the sums add up.
func (t *tunnel) write(buf []byte, head int, payload uint32) {
	if t.kind == tunnelSame {
		return
	}
	h, n := buf[t.off:head], len(buf)-t.off
	if t.kind == tunnelGRE {
		put16(h, greSum, 0)
		put16(h, greSum, ^fold(payload+uint32(checksum.Sum(h))))
		return
	}
	put16(h, 4, uint16(n))
	if t.kind == tunnelUDPSummed {
		put16(h, header.UDPSum, 0)
		put16(h, header.UDPSum, notZero(^fold(payload+t.sum+uint32(n)+uint32(checksum.Sum(h)))))
	}
}

// fold adds the carries of a sum of 16-bit words back in.
func fold(sum uint32) uint16 {
	sum = sum>>16 + sum&0xffff
	return uint16(sum>>16 + sum)
}

// notZero is how UDP sends a checksum: zero would mean that there is none.
func notZero(sum uint16) uint16 {
	if sum == 0 {
		return 0xffff
	}
	return sum
}

func put16(b []byte, off int, v uint16) { binary.BigEndian.PutUint16(b[off:], v) }
