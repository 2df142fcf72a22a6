package lab

import (
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/xdp"
)

// dropUnread drops a frame without a look at it, as `xdp-bench drop` does.
func dropUnread(*xdp.Buff) xdp.Verdict { return xdp.Drop }

// dropRead drops UDP for any port but one, which nobody uses: it reads Ethernet,
// IP and UDP headers.
func dropRead(b *xdp.Buff) xdp.Verdict {
	const ip, udp = header.EthernetBytes, header.EthernetBytes + header.IPv4Bytes
	d := b.Data()
	if len(d) < udp+header.UDPBytes || header.EthernetAt(d, 0).Type() != header.TypeIPv4 ||
		header.IPv4At(d, ip).Proto() != header.ProtoUDP || header.UDPAt(d, udp).DstPort() == 9 {
		return xdp.Pass
	}
	return xdp.Drop
}

// reflect sends a frame back where it came from, as `xdp-bench tx` does: it
// swaps the Ethernet addresses.
func reflect(b *xdp.Buff) xdp.Verdict {
	d := b.Data()
	if len(d) < header.EthernetBytes {
		return xdp.Drop
	}
	eth := header.EthernetAt(d, 0)
	*eth.Dst(), *eth.Src() = *eth.Src(), *eth.Dst()
	return xdp.Tx
}
