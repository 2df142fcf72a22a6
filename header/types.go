package header

// EtherTypes (IEEE 802 numbers).
const (
	TypeIPv4     = 0x0800
	TypeARP      = 0x0806
	TypeTEB      = 0x6558 // an Ethernet frame inside GRE or GENEVE
	TypeRARP     = 0x8035
	TypeVLAN     = 0x8100 // 802.1Q
	TypeIPv6     = 0x86dd
	TypePPP      = 0x880b // PPP inside GRE version 1 (PPTP)
	TypeMPLS     = 0x8847
	TypeMPLSMany = 0x8848 // multicast
	TypePPPoE    = 0x8864 // session stage
	TypeQinQ     = 0x88a8 // 802.1ad
	TypeTIPC     = 0x88ca
	TypePTP      = 0x88f7
	TypePRP      = 0x88fb
	TypeCFM      = 0x8902
	TypeFCoE     = 0x8906
	TypeHSR      = 0x892f
	TypeBatman   = 0x4305 // batman-adv
)

// IP protocols, and the IPv6 extension headers that share their numbers (IANA
// protocol numbers).
const (
	ProtoHopByHop = 0
	ProtoICMP     = 1
	ProtoIGMP     = 2
	ProtoIPv4     = 4 // IPIP
	ProtoTCP      = 6
	ProtoUDP      = 17
	ProtoDCCP     = 33
	ProtoIPv6     = 41 // SIT, 6in6
	ProtoRouting  = 43
	ProtoFragment = 44
	ProtoGRE      = 47
	ProtoESP      = 50
	ProtoAH       = 51
	ProtoICMPv6   = 58
	ProtoNoNext   = 59
	ProtoDestOpts = 60
	ProtoSCTP     = 132
	ProtoUDPLite  = 136
	ProtoMPLS     = 137
)
