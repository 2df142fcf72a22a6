package rr

import (
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// A Server answers requests.
type Server struct {
	Host
	profile Profile
	buffer  []byte // what the application reads requests into
	reply   []byte
}

// NewServer makes a server with all connections of the profile established. The
// caller closes it.
func NewServer(p Profile, m Memory, seed uint64) (*Server, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	s := &Server{profile: p, buffer: make([]byte, p.Request), reply: make([]byte, p.Response)}
	pattern(s.reply)
	return s, s.open(m, p.Conns, StampedBytes, p.Response, seed)
}

// Answer is lent requests and puts a response to each at the end of out, which
// needs room for them; the caller owns those.
func (s *Server) Answer(in, out *packet.Batch) {
	for k := range in.Len() {
		n, f := s.read(in.At(k))
		if f != "" {
			s.fail(n, f)
			continue
		}
		s.send(n, s.reply, out)
	}
}

// read finds the socket of a request, as TCP does, and copies its payload.
func (s *Server) read(p *packet.Packet) (n int, f fault) {
	b := p.Bytes()
	if len(b) != int(p.Len) || len(b) != StampedBytes+s.profile.Request {
		return -1, badLength
	}
	t := header.TCPAt(b, tcp)
	n = int(t.SrcPort()) - portBase
	if n < 0 || n >= len(s.sockets) {
		return n, badHeader
	}
	c := &s.sockets[n]
	if t.Seq() != c.want || t.Ack() != c.next {
		return n, badSequence
	}
	copy(s.buffer, b[StampedBytes:])
	c.want += uint32(s.profile.Request)
	return n, ""
}
