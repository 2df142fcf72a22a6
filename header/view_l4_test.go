package header

import "testing"

func TestTCPView(t *testing.T) {
	raw := []byte{0x12, 0x34, 0x00, 0x50, 0xff, 0xff, 0xff, 0xfe, 0x00, 0x00, 0x00, 0x07,
		0x81, 0x92, 0x03, 0xe8, 0xbe, 0xef, 0x00, 0x09}
	h := TCPAt(raw, 0)
	want(t, "SrcPort", h.SrcPort(), uint16(0x1234))
	want(t, "DstPort", h.DstPort(), uint16(80))
	want(t, "Ports", h.Ports(), uint32(0x12340050))
	want(t, "Seq", h.Seq(), uint32(0xfffffffe))
	want(t, "Ack", h.Ack(), uint32(7))
	want(t, "HeaderLen", h.HeaderLen(), 32)
	want(t, "Flags", h.Flags(), uint16(TCPAe|TCPCwr|TCPAck|TCPSyn))
	want(t, "Word", h.Word(), uint32(0x819203e8))
	want(t, "Window", h.Window(), uint16(1000))
	want(t, "Checksum", h.Checksum(), uint16(0xbeef))
	want(t, "Urgent", h.Urgent(), uint16(9))
	var w TCP
	w.SetSrcPort(0x1234)
	w.SetDstPort(80)
	w.SetSeq(0xfffffffe)
	w.SetAck(7)
	w.SetHeaderLen(32)
	w.SetFlags(TCPAe | TCPCwr | TCPAck | TCPSyn)
	w.SetWindow(1000)
	w.SetChecksum(0xbeef)
	w.SetUrgent(9)
	wantBytes(t, w[:], raw)
	w.SetHeaderLen(60)
	wantBytes(t, w[12:14], []byte{0xf1, 0x92})
	w.SetFlags(TCPFin | TCPRst | TCPPsh | TCPUrg | TCPEce)
	wantBytes(t, w[12:14], []byte{0xf0, 0x6d})
}

func TestUDPView(t *testing.T) {
	raw := []byte{0x12, 0xb5, 0x00, 0x35, 0x00, 0x20, 0xbe, 0xef}
	h := UDPAt(raw, 0)
	want(t, "SrcPort", h.SrcPort(), uint16(PortVXLAN))
	want(t, "DstPort", h.DstPort(), uint16(53))
	want(t, "Ports", h.Ports(), uint32(0x12b50035))
	want(t, "Length", h.Length(), uint16(32))
	want(t, "Checksum", h.Checksum(), uint16(0xbeef))
	var w UDP
	w.SetSrcPort(PortVXLAN)
	w.SetDstPort(53)
	w.SetLength(32)
	w.SetChecksum(0xbeef)
	wantBytes(t, w[:], raw)
}

func TestICMPView(t *testing.T) {
	raw := []byte{8, 3, 0xbe, 0xef, 0x12, 0x34, 0, 5}
	h := ICMPAt(raw, 0)
	want(t, "Type", h.Type(), uint8(ICMPEchoRequest))
	want(t, "Code", h.Code(), uint8(3))
	want(t, "Checksum", h.Checksum(), uint16(0xbeef))
	want(t, "EchoID", h.EchoID(), uint16(0x1234))
	want(t, "EchoSeq", h.EchoSeq(), uint16(5))
	var w ICMP
	w.SetType(ICMPEchoRequest)
	w.SetCode(3)
	w.SetChecksum(0xbeef)
	w.SetEchoID(0x1234)
	w.SetEchoSeq(5)
	wantBytes(t, w[:], raw)
}

func TestIGMPView(t *testing.T) {
	h := IGMPAt([]byte{0x16, 0, 0xbe, 0xef, 224, 0, 0, 251}, 0)
	want(t, "Type", h.Type(), uint8(0x16))
	want(t, "Checksum", h.Checksum(), uint16(0xbeef))
	want(t, "Group", *h.Group(), [4]byte{224, 0, 0, 251})
}

func TestGREView(t *testing.T) {
	h := GREAt([]byte{0xb0, 0x00, 0x65, 0x58}, 0)
	want(t, "Flags", h.Flags(), uint16(GREChecksum|GREKey|GRESeq))
	want(t, "Version", h.Version(), uint8(0))
	want(t, "Proto", h.Proto(), uint16(TypeTEB))
	var w GRE
	w.SetFlags(GREChecksum | GREKey | GRESeq)
	w.SetProto(TypeTEB)
	wantBytes(t, w[:], []byte{0xb0, 0x00, 0x65, 0x58})

	for flags, lens := range map[uint16][2]int{
		0: {4, 4}, GREChecksum: {8, 8}, GREKey: {8, 4}, GRESeq: {8, 4}, GRERouting: {4, 4},
		GREChecksum | GREKey | GRESeq:              {16, 8},
		GREKey | GRESeq | GREAck | 1:               {16, 4},
		GREChecksum | GREKey | GRESeq | GREAck | 1: {20, 8},
		GREAck: {4, 4}, // not in version 0
	} {
		w.SetFlags(flags)
		want(t, "HeaderLen", w.HeaderLen(), lens[0])
		want(t, "KeyOffset", w.KeyOffset(), lens[1])
	}
}

func TestVXLANView(t *testing.T) {
	raw := []byte{0x08, 0, 0, 0, 0x12, 0x34, 0x56, 0}
	h := VXLANAt(raw, 0)
	want(t, "Flags", h.Flags(), uint32(VXLANValid))
	want(t, "VNI", h.VNI(), uint32(0x123456))
	var w VXLAN
	w.SetVNI(0x123456)
	wantBytes(t, w[:], raw)
}

func TestGENEVEView(t *testing.T) {
	raw := []byte{0x43, 0xc0, 0x65, 0x58, 0x12, 0x34, 0x56, 0x78}
	h := GENEVEAt(raw, 0)
	want(t, "Version", h.Version(), uint8(1))
	want(t, "HeaderLen", h.HeaderLen(), 20)
	want(t, "Control", h.Control(), true)
	want(t, "Critical", h.Critical(), true)
	want(t, "Proto", h.Proto(), uint16(TypeTEB))
	want(t, "VNI", h.VNI(), uint32(0x123456))
	w := GENEVE{0: 0x40, 1: 0xc0, 7: 0x78}
	w.SetHeaderLen(20)
	w.SetProto(TypeTEB)
	w.SetVNI(0x123456)
	wantBytes(t, w[:], raw)
}
