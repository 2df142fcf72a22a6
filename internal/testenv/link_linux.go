package testenv

import (
	"encoding/binary"
	"fmt"
	"testing"

	"golang.org/x/sys/unix"
)

// IFLA_INFO_DATA of a veth device: the attributes of its peer
// (include/uapi/linux/veth.h).
const vethInfoPeer = 1

// AddVeth makes a pair of devices joined by a cable.
func AddVeth(t testing.TB, name, peer string) {
	t.Helper()
	other := make(message, unix.SizeofIfInfomsg).attr(unix.IFLA_IFNAME, text(peer))
	addLink(t, name, "veth", message(nil).attr(vethInfoPeer, other))
}

// AddVXLAN makes a device that receives VXLAN packets with network id vni on a
// UDP port of this namespace.
func AddVXLAN(t testing.TB, name string, vni uint32, port uint16) {
	t.Helper()
	addLink(t, name, "vxlan", message(nil).
		attr(unix.IFLA_VXLAN_ID, binary.NativeEndian.AppendUint32(nil, vni)).
		attr(unix.IFLA_VXLAN_PORT, binary.BigEndian.AppendUint16(nil, port)))
}

// UpLink sets a device's MTU, and its MAC address unless mac is nil, and
// brings it up.
func UpLink(t testing.TB, name string, mtu int, mac []byte) {
	t.Helper()
	m := message(nil).attr(unix.IFLA_IFNAME, text(name)).
		attr(unix.IFLA_MTU, binary.NativeEndian.AppendUint32(nil, uint32(mtu)))
	if mac != nil {
		m = m.attr(unix.IFLA_ADDRESS, mac)
	}
	if err := setLink(0, unix.IFF_UP, m); err != nil {
		t.Fatalf("bring %s up with MTU %d: %v", name, mtu, err)
	}
}

func addLink(t testing.TB, name, kind string, data message) {
	t.Helper()
	info := message(nil).attr(unix.IFLA_INFO_KIND, text(kind)).
		attr(unix.IFLA_INFO_DATA|unix.NLA_F_NESTED, data)
	m := message(nil).attr(unix.IFLA_IFNAME, text(name)).
		attr(unix.IFLA_LINKINFO|unix.NLA_F_NESTED, info)
	if err := setLink(unix.NLM_F_CREATE|unix.NLM_F_EXCL, 0, m); err != nil {
		Unavailable(t, fmt.Sprintf("add %s device %s: %v", kind, name, err))
	}
}

// message is a run of netlink attributes, each padded to 4 bytes.
type message []byte

func (m message) attr(kind uint16, value []byte) message {
	m = binary.NativeEndian.AppendUint16(m, uint16(4+len(value)))
	m = binary.NativeEndian.AppendUint16(m, kind)
	m = append(m, value...)
	return append(m, make([]byte, -len(m)&3)...)
}

func text(s string) []byte { return append([]byte(s), 0) }

// setLink sends one RTM_NEWLINK request and waits for the answer.
func setLink(flags uint16, up uint32, attrs message) error {
	const header = unix.SizeofNlMsghdr + unix.SizeofIfInfomsg
	fd, err := unix.Socket(unix.AF_NETLINK, unix.SOCK_RAW|unix.SOCK_CLOEXEC, unix.NETLINK_ROUTE)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	b := make([]byte, header, header+len(attrs))
	binary.NativeEndian.PutUint32(b[0:], uint32(header+len(attrs)))
	binary.NativeEndian.PutUint16(b[4:], unix.RTM_NEWLINK)
	binary.NativeEndian.PutUint16(b[6:], unix.NLM_F_REQUEST|unix.NLM_F_ACK|flags)
	binary.NativeEndian.PutUint32(b[24:], up) // flags
	binary.NativeEndian.PutUint32(b[28:], up) // which of them change
	kernel := &unix.SockaddrNetlink{Family: unix.AF_NETLINK}
	if err = unix.Sendto(fd, append(b, attrs...), 0, kernel); err != nil {
		return err
	}
	answer := make([]byte, 4096)
	n, _, err := unix.Recvfrom(fd, answer, 0)
	if err != nil {
		return err
	}
	if n < unix.SizeofNlMsghdr+4 {
		return fmt.Errorf("netlink answer of %d bytes", n)
	}
	if errno := -int32(binary.NativeEndian.Uint32(answer[unix.SizeofNlMsghdr:])); errno != 0 {
		return unix.Errno(errno)
	}
	return nil
}
