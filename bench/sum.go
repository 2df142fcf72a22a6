package main

import (
	"bytes"
	"fmt"

	"github.com/tailscale/wireguard-go/tun"
	gvsum "gvisor.dev/gvisor/pkg/tcpip/checksum"

	"github.com/millrace-net/millrace/checksum"
)

// sums: the Internet checksum of a warm buffer.
func sums() (all []*contest) {
	var sink uint16
	for _, n := range []int{64, 1460, 65000} {
		b := bytes.Repeat([]byte{'a'}, n)
		times := 1 + 1<<15/n
		repeat := func(sum func() uint16) func() int {
			return func() int {
				for range times {
					sink += sum()
				}
				return 0
			}
		}
		all = append(all, &contest{fmt.Sprintf("checksum, %d bytes", n), "sum", []*entry{
			{who: "millrace checksum.Sum", units: times,
				run: repeat(func() uint16 { return checksum.Sum(b) })},
			{who: "gVisor checksum.Checksum", units: times,
				run: repeat(func() uint16 { return gvsum.Checksum(b, 0) })},
			{who: "tailscale tun.Checksum", units: times,
				run: repeat(func() uint16 { return tun.Checksum(b, 0) })},
			{who: "DPDK rte_raw_cksum", ask: fmt.Sprintf("cksum %d", n)},
		}})
	}
	return all
}
