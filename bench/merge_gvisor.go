package main

import (
	"strings"

	"gvisor.dev/gvisor/pkg/buffer"
	"gvisor.dev/gvisor/pkg/tcpip"
	"gvisor.dev/gvisor/pkg/tcpip/header"
	"gvisor.dev/gvisor/pkg/tcpip/stack"
	"gvisor.dev/gvisor/pkg/tcpip/stack/gro"
)

// A gvisor is gVisor's GRO and the dispatcher behind it, which keeps what comes
// out until the next burst is prepared.
type gvisor struct {
	gro    gro.GRO
	frames [][]byte
	in     []*stack.PacketBuffer
	out    []*stack.PacketBuffer
}

func newGVisor(flows, n int) *gvisor {
	g := &gvisor{frames: burst(flows, n), in: make([]*stack.PacketBuffer, n),
		out: make([]*stack.PacketBuffer, 0, n)}
	g.gro.Init(true)
	g.gro.Dispatcher = g
	return g
}

// entry runs it with the packet buffers made before, or in the timed part as a
// program must that has byte slices: gVisor's buffers cannot lend memory.
func (g *gvisor) entry(who, sums string) *entry {
	e := &entry{who: who, sums: sums, copies: "no", units: len(g.frames)}
	known, before := sums == "known", strings.Contains(who, "before")
	e.prepare = func() {
		g.release()
		if before {
			g.wrap(known)
		}
	}
	if !before {
		e.copies = "yes"
	}
	e.run = func() int {
		if !before {
			g.wrap(known)
		}
		for _, p := range g.in {
			g.gro.Enqueue(p)
			p.DecRef()
		}
		// A call of Flush delivers one packet of each bucket.
		for n := -1; n != len(g.out); {
			n = len(g.out)
			g.gro.Flush()
		}
		return len(g.out)
	}
	return e
}

// wrap leaves the Ethernet header out: gVisor's GRO does not look at it, and
// would begin its checksum too early.
func (g *gvisor) wrap(known bool) {
	for i, f := range g.frames {
		b := buffer.MakeWithData(f[linkLen:])
		p := stack.NewPacketBuffer(stack.PacketBufferOptions{Payload: b})
		p.NetworkProtocolNumber = header.IPv4ProtocolNumber
		p.RXChecksumValidated = known
		g.in[i] = p
	}
}

func (g *gvisor) release() {
	for _, p := range g.out {
		p.DecRef()
	}
	g.out = g.out[:0]
}

// DeliverNetworkPacket implements stack.NetworkDispatcher.
func (g *gvisor) DeliverNetworkPacket(_ tcpip.NetworkProtocolNumber, p *stack.PacketBuffer) {
	g.out = append(g.out, p.IncRef())
}

// DeliverLinkPacket implements stack.NetworkDispatcher.
func (*gvisor) DeliverLinkPacket(tcpip.NetworkProtocolNumber, *stack.PacketBuffer) {}
