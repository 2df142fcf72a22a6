package explain

import (
	"fmt"

	"github.com/millrace-net/millrace/cmd/millrace/capture"
	"github.com/millrace-net/millrace/header"
)

// networkNames are the EtherTypes that have a name here.
var networkNames = map[uint16]string{
	header.TypeIPv4: "malformed ipv4", header.TypeIPv6: "malformed ipv6", // else Version is set
	header.TypeARP: "arp", header.TypeRARP: "rarp",
	header.TypeVLAN: "vlan", header.TypeQinQ: "vlan", // more tags than are walked
	header.TypeMPLS: "mpls", header.TypeMPLSMany: "mpls", header.TypePPPoE: "pppoe",
	header.TypeTIPC: "tipc", header.TypePTP: "ptp", header.TypePRP: "prp",
	header.TypeHSR: "hsr", header.TypeCFM: "cfm", header.TypeFCoE: "fcoe",
	header.TypeBatman: "batman",
}

// networkName names the network layers of a frame, the outer one first.
func networkName(f *capture.Frame, info *header.Info) string {
	if f.Link == header.LinkOpaque {
		return fmt.Sprintf("unknown link type %d", f.LinkNumber)
	}
	if info.Version == 0 {
		return typeName(info.Type)
	}
	inner := ipName(info.Version)
	if info.Encap == header.EncapNone {
		return inner
	}
	return ipName(f.Data[info.Outer]>>4) + encapNames[info.Encap] + inner
}

func ipName(version uint8) string { return fmt.Sprintf("ipv%d", version) }

var encapNames = map[header.Encap]string{
	header.EncapIP: "/", header.EncapGRE: "/gre/", header.EncapTEB: "/gre/ethernet/",
	header.EncapVXLAN: "/vxlan/ethernet/",
}

// minType is the least EtherType; below it the field is a length (IEEE 802.3
// 3.2.6).
const minType = 0x0600

func typeName(etherType uint16) string {
	switch name, known := networkNames[etherType]; {
	case known:
		return name
	case etherType == 0:
		return "none"
	case etherType < minType:
		return "llc"
	}
	return fmt.Sprintf("%#04x", etherType)
}

var transportNames = map[uint8]string{
	header.ProtoICMP: "icmp", header.ProtoIGMP: "igmp", header.ProtoTCP: "tcp",
	header.ProtoUDP: "udp", header.ProtoDCCP: "dccp", header.ProtoGRE: "gre",
	header.ProtoESP: "esp", header.ProtoAH: "ah", header.ProtoICMPv6: "icmpv6",
	header.ProtoNoNext: "none", header.ProtoSCTP: "sctp", header.ProtoUDPLite: "udplite",
	header.ProtoIPv4: "ipv4", header.ProtoIPv6: "ipv6", header.ProtoMPLS: "mpls",
}

// transportName names what the innermost IP header carries.
func transportName(info *header.Info) string {
	if info.Version == 0 {
		return "none"
	}
	if info.Flags&header.FlagLater != 0 {
		return "later fragment"
	}
	if name, known := transportNames[info.Proto]; known {
		return name
	}
	return fmt.Sprintf("protocol %d", info.Proto)
}
