package testenv

import (
	"encoding/binary"
	"net"
	"testing"

	"golang.org/x/sys/unix"
)

const (
	VNetBytes = 10 // virtio-net header, as TAP and packet sockets use it
	maxPacket = 1 << 17
)

// A Packet is what a packet socket saw.
type Packet struct {
	Data []byte          // Ethernet frame; its outermost VLAN tag may be in Tag
	VNet [VNetBytes]byte // in host byte order; zero without PACKET_VNET_HDR
	TPID uint16          // EtherType of the tag that the kernel took off; 0: none
	Tag  uint16          // its TCI
}

// A PacketSocket sends and receives whole frames of one device.
type PacketSocket struct {
	fd   int
	vnet bool
	buf  []byte
}

// OpenPacket opens a packet socket on a device of this namespace. With vnet a
// virtio-net header goes with every frame (PACKET_VNET_HDR).
func OpenPacket(t testing.TB, dev string, vnet bool) *PacketSocket {
	t.Helper()
	link, err := net.InterfaceByName(dev)
	if err != nil {
		t.Fatalf("device %s: %v", dev, err)
	}
	const kind = unix.SOCK_RAW | unix.SOCK_NONBLOCK | unix.SOCK_CLOEXEC
	fd, err := unix.Socket(unix.AF_PACKET, kind, 0)
	if err != nil {
		Unavailable(t, "open a packet socket: "+err.Error())
	}
	t.Cleanup(func() { unix.Close(fd) })
	set := func(level, opt, value int) {
		if err := unix.SetsockoptInt(fd, level, opt, value); err != nil {
			t.Fatalf("packet socket option %d: %v", opt, err)
		}
	}
	set(unix.SOL_SOCKET, unix.SO_RCVBUFFORCE, 32<<20)
	set(unix.SOL_PACKET, unix.PACKET_AUXDATA, 1)
	if vnet {
		set(unix.SOL_PACKET, unix.PACKET_VNET_HDR, 1)
	}
	all := binary.NativeEndian.Uint16([]byte{0, unix.ETH_P_ALL})
	to := &unix.SockaddrLinklayer{Protocol: all, Ifindex: link.Index}
	if err = unix.Bind(fd, to); err != nil {
		t.Fatalf("bind a packet socket to %s: %v", dev, err)
	}
	return &PacketSocket{fd: fd, vnet: vnet, buf: make([]byte, maxPacket)}
}

// Filter attaches a classic BPF program. What it returns is the number of
// bytes that Receive sees; 0 hides the packet.
func (s *PacketSocket) Filter(prog []unix.SockFilter) error {
	p := unix.SockFprog{Len: uint16(len(prog)), Filter: &prog[0]}
	return unix.SetsockoptSockFprog(s.fd, unix.SOL_SOCKET, unix.SO_ATTACH_FILTER, &p)
}

// Send sends a frame through the device. The header is not used when the
// socket was opened without it.
func (s *PacketSocket) Send(vnet [VNetBytes]byte, frame []byte) error {
	b := s.buf[:0]
	if s.vnet {
		b = append(b, vnet[:]...)
	}
	_, err := unix.Write(s.fd, append(b, frame...))
	return err
}

// Receive copies the next packet, waiting for it at most ms milliseconds. It
// passes over what this namespace itself sent; false: none came.
func (s *PacketSocket) Receive(ms int) (p Packet, ok bool) {
	var aux [256]byte
	for ready(s.fd, ms) {
		n, auxLen, _, from, err := unix.Recvmsg(s.fd, s.buf, aux[:], 0)
		if err != nil {
			return p, false
		}
		if ll, ok := from.(*unix.SockaddrLinklayer); !ok || ll.Pkttype == unix.PACKET_OUTGOING {
			continue
		}
		b := s.buf[:n]
		if s.vnet {
			b = b[copy(p.VNet[:], b):]
		}
		p.Data = append(p.Data, b...)
		p.TPID, p.Tag = takenTag(aux[:auxLen])
		return p, true
	}
	return p, false
}

// takenTag finds the VLAN tag in the auxiliary data (struct tpacket_auxdata).
func takenTag(aux []byte) (tpid, tci uint16) {
	messages, err := unix.ParseSocketControlMessage(aux)
	if err != nil {
		return 0, 0
	}
	for _, m := range messages {
		d := m.Data
		if m.Header.Type == unix.PACKET_AUXDATA && len(d) >= 20 &&
			binary.NativeEndian.Uint32(d)&unix.TP_STATUS_VLAN_VALID != 0 {
			return binary.NativeEndian.Uint16(d[18:]), binary.NativeEndian.Uint16(d[16:])
		}
	}
	return 0, 0
}
