package main

import (
	"encoding/binary"
	"errors"

	"github.com/millrace-net/millrace/cmd/millrace/capture"
	"github.com/millrace-net/millrace/cmd/millrace/workload"
	"github.com/millrace-net/millrace/gso"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/port"
)

// A sink takes what the port delivers: it writes it to a file, sends it, or
// does nothing. It belongs to the goroutine of the port.
type sink struct {
	send   *port.Port       // nil: packets end here
	leave  *leaving         // what writes the frames that were sent; nil: nobody listens
	file   *capture.Writer  // nil: null
	replay *workload.Replay // knows the link types of the input
	frame  []byte           // one packet in a piece
	pieces [][]byte         // of it
	err    error            // the first that writing gave; nothing is written behind it
	end    func()           // called with the first error
}

// handle writes the packets of a batch as they are, merged ones in one piece.
func (s *sink) handle(b *packet.Batch) {
	if s.send != nil {
		s.send.Post(b) // its own packets: it cannot fail
		return
	}
	for i := range b.Len() {
		if s.file == nil || s.err != nil {
			return
		}
		if s.err = s.write(b, i); s.err != nil {
			s.end()
		}
	}
}

// close gives the file its name, or takes it away if something is missing in
// it.
func (s *sink) close() error {
	if s.leave != nil {
		s.err = s.leave.finish()
	}
	switch {
	case s.file == nil:
		return nil
	case s.err != nil:
		return errors.Join(s.err, s.file.Abort())
	}
	return s.file.Commit()
}

func (s *sink) write(b *packet.Batch, i int) error {
	p := b.At(i)
	s.frame = gather(s.frame[:0], b.Slab(), p, &s.pieces)
	number, ok := capture.NumberOf(p.Link)
	if s.replay != nil {
		number, ok = s.replay.NumberOf(p.Link)
	}
	if !ok {
		return errors.New("the input has frames of several link types that are not parsed " +
			"and cannot be told apart: split it by link type, or use --to null")
	}
	return s.file.Write(&capture.Frame{
		Data: s.frame, LinkNumber: number, Time: p.Timestamp, Length: len(s.frame),
	})
}

// gather appends the bytes of a packet, with the VLAN tag that the device took
// out. pieces is memory to be used again.
func gather(dst []byte, slab *packet.Slab, p *packet.Packet, pieces *[][]byte) []byte {
	head, payload := gso.Pieces(slab, p, (*pieces)[:0])
	dst = appendTagged(dst, head, p)
	for _, b := range payload {
		dst = append(dst, b...)
	}
	*pieces = payload
	return dst
}

func appendTagged(dst, head []byte, p *packet.Packet) []byte {
	if p.TagType == 0 || len(head) < header.TagOffset {
		return append(dst, head...)
	}
	dst = append(dst, head[:header.TagOffset]...)
	dst = binary.BigEndian.AppendUint16(dst, p.TagType)
	dst = binary.BigEndian.AppendUint16(dst, p.TagTCI)
	return append(dst, head[header.TagOffset:]...)
}
