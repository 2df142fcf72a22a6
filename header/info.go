package header

// Info says where the headers of a frame lie. Offsets count from the first
// byte of the frame. Parse fills it; a field that was not reached is zero.
type Info struct {
	Net     uint16 // innermost network header that Parse reached
	L4      uint16 // transport header
	Payload uint16 // first byte behind the transport header
	Outer   uint16 // outermost network header; equals Net without a tunnel
	Tunnel  uint16 // the GRE or UDP header of a tunnel
	Type    uint16 // EtherType behind the last outer VLAN tag
	End     uint32 // end of the innermost IP packet by its own length field; not clamped
	Proto   uint8  // IP protocol of the last header reached
	Version uint8  // 4 or 6: the innermost network header; 0: not IP
	Tags    uint8  // VLAN tags in front of the outermost network header
	Encap   Encap
	Flags   Flags
}

// Encap is the tunnel between the outer and the inner network header.
type Encap uint8

const (
	EncapNone  Encap = iota
	EncapIP          // IPIP, SIT, 4in6, 6in6
	EncapGRE         // GRE v0 with IP inside
	EncapTEB         // GRE v0 with Ethernet inside
	EncapVXLAN       // by UDP port
)

// Flags are properties of the headers that Parse walked.
type Flags uint8

const (
	FlagFragment   Flags = 1 << iota // IPv4 MF or offset, IPv6 fragment header, on any layer
	FlagLater                        // offset not zero: there is no transport header
	FlagOptions                      // IPv4 options on any layer
	FlagExtensions                   // IPv6 extension headers on any layer
	FlagTruncated                    // a header or length field points behind the frame
)
