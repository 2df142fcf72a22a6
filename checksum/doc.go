// Package checksum computes the Internet checksum (RFC 1071): the one's
// complement sum of 16-bit words that IPv4, TCP, UDP, ICMP and GRE carry.
//
//	bytes --Update--> uint64 --Fold--> uint16 --Combine--> uint16 --^--> field
//	                  running sum      folded  (+ fragments, pseudo header)
//
// The caller owns all bytes; they are only read. A running sum starts at 0
// and goes on over pieces of even length. A folded sum is in network byte
// order and not complemented: over a packet whose checksum field is right,
// pseudo header included, it is 0xffff.
//
// On amd64 with AVX2 long runs are summed by an assembly routine; arm64 and
// all others use the generic one, as does a build with -tags purego.
//
// The trap: zero has two forms. A sum is 0 only over zero bytes; any other
// multiple of 0xffff is 0xffff. So the complement, the field, is 0xffff for
// no packet with a non-zero byte, and may be 0, which UDP reserves for "no
// checksum": UDP sends 0xffff instead (RFC 768).
package checksum
