package nic

import (
	"fmt"
	"testing"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/vnet"
)

// The device cuts random packets as the running kernel does in software.
func TestLSOKernel(t *testing.T) {
	seed := testenv.Seed(t)
	testenv.NewNet(t)
	k := testenv.OpenKernelGSO(t, 9000)
	r := newSendRig(t, Config{}, 128)
	types := map[packet.GSOType]uint8{packet.GSOTCPv4: vnet.GSOTCPv4,
		packet.GSOTCPv6: vnet.GSOTCPv6, packet.GSOUDP: vnet.GSOUDP}
	frames := 0
	for n := range testenv.Seeds(40) {
		rnd := testenv.Rand(seed, uint64(n))
		size := 1 + rnd.IntN(20000)
		mss := uint16(max(size/60, 1+rnd.IntN(3000)))
		if size <= int(mss) {
			continue // Linux refuses some that need no cutting: EINVAL in tcp_gso_segment
		}
		all := largePackets(size)
		for _, name := range []string{"tcp4", "tcp6", "udp4", "options"} {
			p := all[name]
			var h vnet.Header
			h.SetFlags(vnet.NeedsCSum)
			h.SetGSOType(types[p.gso.Type])
			h.SetGSOSize(mss)
			h.SetHdrLen(p.gso.HdrLen)
			h.SetCSumStart(p.gso.CSumStart)
			h.SetCSumOffset(p.gso.CSumOffset)
			// Linux goes on from the sum of the pseudo header, which we do not read.
			l4, proto := int(p.gso.CSumStart), uint8(header.ProtoTCP)
			if name == "udp4" {
				proto = header.ProtoUDP
			}
			sum := checksum.Pseudo(p.frame[14:], proto, len(p.frame)-l4)
			putSum(p.frame, l4+int(p.gso.CSumOffset), sum)
			want, err := k.Run(h, p.frame)
			if err != nil {
				t.Fatalf("case %d, %s, %d bytes, MSS %d: %v", n, name, size, mss, err)
			}
			got := r.sends(r.lso(p.frame, int(p.gso.HdrLen), mss, pageBytes))
			var linux [][]byte
			for _, w := range want {
				linux = append(linux, w.Data)
			}
			sameFrames(t, fmt.Sprintf("case %d, %s, MSS %d", n, name, mss), got, linux)
			frames += len(got)
		}
	}
	t.Logf("%d frames", frames)
}
