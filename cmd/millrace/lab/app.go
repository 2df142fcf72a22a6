package lab

import (
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// An app is what stands behind the receive path. It runs on one thread.
type app struct {
	read  int                 // bytes that it takes at once; 0: what there is
	take  func(*packet.Batch) // lent the batch
	count *appCount
}

// An appCount is what an application got.
type appCount struct {
	payload          uint64 // bytes
	length, truesize uint64 // of packets
}

// A listener looks at the addresses and ports of each packet, as the network
// stack does to find a socket, and drops it.
type listener struct {
	seen uint32
	appCount
}

func newListener() *app {
	s := new(listener)
	return &app{0, s.take, &s.appCount}
}

func (s *listener) take(b *packet.Batch) {
	for i := range b.Len() {
		h := b.Head(i)
		ip := header.IPv4At(h, header.EthernetBytes)
		udp := header.UDPAt(h, header.EthernetBytes+header.IPv4Bytes)
		s.seen += uint32(udp.SrcPort()) ^ uint32(ip.Src()[3])
		s.payload += uint64(udp.Length() - header.UDPBytes)
	}
}

// newServer waits until a buffer of so many bytes can be filled, and copies the
// stream into it, over and over, as netserver's receive calls do. tunnel is the
// length of what stands in front of the inner frame of each packet.
func newServer(read, tunnel int) *app {
	s := &server{buffer: make([]byte, read), tunnel: tunnel}
	return &app{read, s.take, &s.appCount}
}

type server struct {
	buffer []byte
	at     int
	tunnel int
	appCount
}

func (s *server) take(b *packet.Batch) {
	for i := range b.Len() {
		p := b.At(i)
		s.length += uint64(p.Len)
		s.truesize += uint64(p.Truesize)
		head := b.Head(i)
		skip := s.tunnel + header.Length(header.LinkEthernet, head[s.tunnel:])
		s.put(head[skip:])
		if p.Len == p.Linear {
			continue
		}
		s.frags(p)
		for c := p.Shared().Chain; c != 0; {
			q := b.Slab().At(c)
			s.put(q.Bytes()) // GRO has cut its headers off
			s.frags(q)
			c = q.Next
		}
	}
}

func (s *server) frags(p *packet.Packet) {
	sh := p.Shared()
	for k := range sh.NumFrags {
		s.put(sh.Frags[k].Bytes())
	}
}

// put copies bytes to where the last ones ended, and begins again at the start
// of the buffer when it is full.
func (s *server) put(b []byte) {
	s.payload += uint64(len(b))
	for len(b) > 0 {
		n := copy(s.buffer[s.at:], b)
		b = b[n:]
		if s.at += n; s.at == len(s.buffer) {
			s.at = 0
		}
	}
}
