package gso

import "github.com/millrace-net/millrace/packet"

// Pieces lists where the bytes of p lie, as Cut takes them: its linear bytes,
// and appended to dst its fragments and all bytes of the packets chained to
// it. All are lent while p lives. A VLAN tag that the device stripped is in
// none of them: the segments inherit p.TagType and p.TagTCI.
func Pieces(s *packet.Slab, p *packet.Packet, dst [][]byte) (head []byte, payload [][]byte) {
	if p.Len == p.Linear {
		return p.Bytes(), dst
	}
	shared := p.Shared()
	dst = appendFrags(dst, shared)
	for i := shared.Chain; i != 0; {
		q := s.At(i)
		if q.Linear > 0 {
			dst = append(dst, q.Bytes())
		}
		if q.Len != q.Linear {
			dst = appendFrags(dst, q.Shared())
		}
		i = q.Next
	}
	return p.Bytes(), dst
}

func appendFrags(dst [][]byte, s *packet.SharedInfo) [][]byte {
	for _, f := range s.Frags[:s.NumFrags] {
		dst = append(dst, f.Bytes())
	}
	return dst
}
