package header

// A LinkType says how the first bytes of a frame are to be read. No frame of
// one type is ever parsed as another.
type LinkType uint8

// Link types, with the LINKTYPE_ number of capture files beside each
// (www.tcpdump.org/linktypes.html).
const (
	LinkEthernet LinkType = iota // 1
	LinkRaw                      // 101, 12, 14, 228, 229: IPv4 or IPv6 by the version nibble
	LinkSLL                      // 113: Linux cooked v1, 16 bytes
	LinkSLL2                     // 276: Linux cooked v2, 20 bytes
	LinkIPoIB                    // 4-byte header: EtherType and two reserved bytes
	LinkNull                     // 0, 108: BSD loopback, a 4-byte address family
	NumLinkTypes
)
