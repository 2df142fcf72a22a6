package header

import "encoding/binary"

// Lengths of UDP tunnel headers in bytes, and their ports.
const (
	VXLANBytes  = 8
	GENEVEBytes = 8 // without options
	PortVXLAN   = 4789
	PortGENEVE  = 6081
)

// VXLAN is a view of a VXLAN header (RFC 7348 5).
type VXLAN [VXLANBytes]byte

// VXLANValid is the bit of VXLAN.Flags that says the VNI is valid.
const VXLANValid = 0x08000000

// VXLANAt views the header at off.
func VXLANAt(b []byte, off int) *VXLAN { return (*VXLAN)(b[off:]) }

// Flags is the first word: flags and reserved bits.
func (h *VXLAN) Flags() uint32 { return binary.BigEndian.Uint32(h[0:4]) }

// VNI is the 24-bit network identifier.
func (h *VXLAN) VNI() uint32 { return binary.BigEndian.Uint32(h[4:8]) >> 8 }

// SetVNI writes a whole header: the valid flag and the identifier.
func (h *VXLAN) SetVNI(vni uint32) {
	binary.BigEndian.PutUint64(h[0:8], VXLANValid<<32|uint64(vni&0xffffff)<<8)
}

// GENEVE is a view of the 8 fixed bytes of a GENEVE header (RFC 8926 3.4).
type GENEVE [GENEVEBytes]byte

// GENEVEAt views the header at off.
func GENEVEAt(b []byte, off int) *GENEVE { return (*GENEVE)(b[off:]) }

func (h *GENEVE) Version() uint8 { return h[0] >> 6 }

// HeaderLen is the length in bytes with options: 8 to 260.
func (h *GENEVE) HeaderLen() int { return GENEVEBytes + int(h[0]&63)*4 }

// Control reports the O bit: a packet for the tunnel endpoint itself.
func (h *GENEVE) Control() bool { return h[1]&0x80 != 0 }

// Critical reports the C bit: an option that must be understood is present.
func (h *GENEVE) Critical() bool { return h[1]&0x40 != 0 }

// Proto is the EtherType of what is inside.
func (h *GENEVE) Proto() uint16 { return binary.BigEndian.Uint16(h[2:4]) }
func (h *GENEVE) VNI() uint32   { return binary.BigEndian.Uint32(h[4:8]) >> 8 }

func (h *GENEVE) SetHeaderLen(n int) { h[0] = h[0]&0xc0 | uint8((n-GENEVEBytes)/4)&63 }
func (h *GENEVE) SetProto(v uint16)  { binary.BigEndian.PutUint16(h[2:4], v) }
func (h *GENEVE) SetVNI(vni uint32)  { binary.BigEndian.PutUint32(h[4:8], vni<<8|uint32(h[7])) }

// GENEVEOptions lends the options of the header at off: nil when there are
// none, or when b ends before they do. The fixed part must be in b.
func GENEVEOptions(b []byte, off int) []byte {
	return options(b, off+GENEVEBytes, off+GENEVEAt(b, off).HeaderLen())
}
