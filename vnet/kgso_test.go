package vnet

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/gso"
	"github.com/millrace-net/millrace/header"
)

// cut hands a frame with its header over as a packet socket takes it, and
// returns the segments.
func cut(h Header, frame []byte) ([][]byte, error) {
	g, err := h.Parse(header.LinkEthernet, frame)
	if err != nil {
		return nil, err
	}
	var s gso.Segmenter
	if err := s.Start(header.LinkEthernet, frame, nil, g); err != nil {
		return nil, err
	}
	segs := make([][]byte, s.Left())
	for i := range segs {
		segs[i] = make([]byte, s.Need())
		s.Next(segs[i])
	}
	return segs, nil
}

// What Linux 6.18 answered to the same packets (facts/gro.md A.13): every
// line must come out again. UFO is refused here and therefore left out.
func TestLinuxCases(t *testing.T) {
	want, err := os.ReadFile("testdata/kgso_linux_6.18.txt")
	if err != nil {
		t.Fatal(err)
	}
	var got strings.Builder
	run := func(name string, gsoType uint8, size, start, offset, hdrLen int, frame []byte) {
		flags := uint8(NeedsCSum)
		if start == 0 {
			flags = 0
		}
		report(&got, name, hdr(flags, gsoType, size, start, offset, hdrLen), frame)
	}
	run("tcp4 3x1000+500 PSH|FIN", 1, 1000, 34, 16, 54, tcp4(3500, 0x19, 100))
	run("tcp4 CWR no ECN flag", 1, 1000, 34, 16, 54, tcp4(3500, 0x98, 100))
	run("tcp4 CWR with GSO_ECN", 0x81, 1000, 34, 16, 54, tcp4(3500, 0x98, 100))
	run("tcp4 id wrap", 1, 1000, 34, 16, 54, tcp4(2500, 0x10, 65535))
	run("tcp4 DF=0", 1, 1000, 34, 16, 54, withoutDF(tcp4(2500, 0x10, 100)))
	run("tcp4 exactly gso_size (1 seg)", 1, 1000, 34, 16, 54, tcp4(1000, 0x10, 100))
	run("tcp4 gso_size 1 (raised to TCP_MIN?)", 1, 1, 34, 16, 54, tcp4(30, 0x10, 100))
	run("tcp4 gso_size 0", 1, 0, 34, 16, 54, tcp4(3000, 0x10, 100))
	run("tcp4 no NEEDS_CSUM flag", 1, 1000, 0, 0, 54, tcp4(2500, 0x18, 5))
	run("tcp4 wrong csum_offset", 1, 1000, 34, 6, 54, tcp4(3000, 0x10, 100))
	run("tcp4 hdr_len too small (14)", 1, 1000, 34, 16, 14, tcp4(2500, 0x10, 100))
	run("tcp6 2x1000+1", 4, 1000, 54, 16, 74, tcp6(2001, 0x18))
	run("gso type v6 on ip4 frame", 4, 1000, 34, 16, 54, tcp4(2500, 0x10, 100))
	run("udp4 3x400+100", 5, 400, 34, 6, 42, udp4(1300, 100))
	run("udp4 DF0", 5, 400, 34, 6, 42, withoutDF(udp4(1300, 100)))
	run("udp4 129 segs of 1", 5, 1, 34, 6, 42, udp4(129, 100))
	run("udp4 128 segs of 1", 5, 1, 34, 6, 42, udp4(128, 100))
	run("udp4 no NEEDS_CSUM", 5, 400, 0, 0, 42, udp4(1300, 1))
	run("tcp4 64K 45x1448", 1, 1448, 34, 16, 54, tcp4(45*1448, 0x18, 100))
	run("none + NEEDS_CSUM", 0, 0, 34, 16, 0, tcp4(100, 0x18, 100))
	if got.String() != string(want) {
		t.Errorf("got\n%s\nwant\n%s", &got, want)
	}
}

func withoutDF(frame []byte) []byte {
	frame[20] = 0
	frame[24], frame[25] = 0, 0
	be.PutUint16(frame[24:], ^checksum.Sum(frame[14:34]))
	return frame
}

// report writes what happened in the words of the golden file.
func report(w *strings.Builder, name string, h Header, frame []byte) {
	segs, err := cut(h, frame)
	if err != nil {
		fmt.Fprintf(w, "%-34s send: [Errno 22] Invalid argument\n", name)
		return
	}
	fmt.Fprintf(w, "%-34s %d segs\n", name, len(segs))
	for i, s := range segs {
		if len(segs) > 5 && i >= 4 && i < len(segs)-1 {
			if i == 4 {
				w.WriteString("      ...\n")
			}
			continue
		}
		fmt.Fprintf(w, "      len=%d %s\n", len(s), wire(s))
	}
}

// wire prints a segment and verifies its checksums.
func wire(b []byte) string {
	var info header.Info
	header.Parse(header.LinkEthernet, b, nil, &info)
	l4 := b[info.L4:]
	ip, sum := "", uint16(0)
	if info.Version == 4 {
		h := header.IPv4At(b, 14)
		ip = fmt.Sprintf("iplen=%d id=%d ipcsum=%s", be.Uint16(b[16:]), h.ID(),
			truth(checksum.Sum(b[14:34]) == 0xffff))
		sum = checksum.Pseudo4(b[26:30], b[30:34], info.Proto, len(l4))
	} else {
		ip = fmt.Sprintf("iplen=%d id=- ipcsum=-", be.Uint16(b[18:]))
		sum = checksum.Pseudo6(b[22:38], b[38:54], info.Proto, len(l4))
	}
	ok := truth(checksum.Combine(sum, checksum.Sum(l4), false) == 0xffff)
	if info.Proto == header.ProtoUDP {
		return fmt.Sprintf("%s udplen=%d udpcsum=%x ok=%s", ip, be.Uint16(l4[4:]), l4[6:8], ok)
	}
	return fmt.Sprintf("%s seq=%d flags=%#02x csum=%s", ip, be.Uint32(l4[4:]), l4[13], ok)
}

func truth(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
