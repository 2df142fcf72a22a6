package rr

import (
	"errors"
	"fmt"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/packet"
)

// A Host makes segments as a network stack does. It belongs to the goroutine of
// the send queue.
type Host struct {
	slab    *packet.Slab
	pages   pages
	sockets []socket
	seed    uint64
	err     error
}

// A socket is what a stack knows of a connection.
type socket struct {
	head    [StampedBytes]byte // headers of the next segment
	headLen uint8
	id      uint16 // IPv4 identification
	ipSum   uint16 // checksum of the IPv4 header with identification 0
	run     run
	next    uint32 // sequence number to be sent
	want    uint32 // sequence number to be received
	count   uint32 // segments sent
}

// Memory is what a host lives on: the first Pages of a region that it is lent,
// for payload, and so many packets.
type Memory struct {
	Region     *mem.Region
	Pages      int
	Packets    int
	KeptMapped *dma.Domain // where the pages are mapped until Close; nil: nowhere
}

func (h *Host) open(m Memory, conns, headLen, size int, seed uint64) (err error) {
	defer func() {
		if err != nil {
			err = errors.Join(err, h.Close())
		}
	}()
	if err = h.pages.open(m, seed); err != nil {
		return err
	}
	if h.slab, err = packet.NewSlab(m.Packets, mem.Auto); err != nil {
		return err
	}
	h.seed, h.sockets = seed, make([]socket, conns)
	for n := range h.sockets {
		s := &h.sockets[n]
		s.headLen = uint8(headLen)
		s.next, s.want = initial(seed, n, 1), initial(seed, n, 0)
		head := s.head[:headLen]
		write(head, serverEnd, clientEnd(n), size)
		s.ipSum = ^checksum.Sum(head[ip:tcp])
		header.TCPAt(head, tcp).SetChecksum(pseudo(head, size))
	}
	return nil
}

// Slab is where the host's packets lie.
func (h *Host) Slab() *packet.Slab { return h.slab }

// Err says what went wrong first.
func (h *Host) Err() error { return h.err }

func (h *Host) fail(n int, f fault) {
	if h.err == nil {
		h.err = fmt.Errorf("rr: the server, connection %d: %s", n, f)
	}
}

const noMemory fault = "no packet or page is free"

// send puts a segment with a copy of the payload at the end of out: 20 ns of
// records, 20 of headers, and the copy.
func (h *Host) send(n int, payload []byte, out *packet.Batch) {
	s := &h.sockets[n]
	i := h.slab.Get()
	if i == 0 {
		h.fail(n, noMemory)
		return
	}
	p := h.slab.At(i)
	*p = packet.Packet{Link: header.LinkEthernet, CSumKind: packet.CSumPartial}
	f, ok := h.pages.carve(&s.run, uint32(len(payload)))
	if !ok || !h.slab.GetSmall(p) {
		h.slab.Free(i)
		h.fail(n, noMemory)
		return
	}
	payload[0] = mark(n, s.count)
	copy(f.Bytes(), payload)
	p.Linear = uint32(s.headLen)
	p.Len = p.Linear + f.Len
	p.Truesize += f.Len
	s.finish(p.Bytes())
	s.next += f.Len
	sh := p.Shared()
	sh.NumFrags, sh.Chain, sh.Last, sh.Frags[0] = 1, 0, 0, f
	sh.GSO = packet.GSO{CSumStart: tcp, CSumOffset: header.TCPSum}
	out.Add(i)
}

// finish writes the headers to where they are sent from. The checksum of TCP is
// left to the device.
func (s *socket) finish(b []byte) {
	t := header.TCPAt(s.head[:], tcp)
	t.SetSeq(s.next)
	t.SetAck(s.want)
	i := header.IPv4At(s.head[:], ip)
	i.SetID(s.id)
	i.SetChecksum(checksum.Replace16(s.ipSum, 0, s.id))
	s.id++
	s.count++
	if s.headLen == StampedBytes {
		stamp(s.head[:], s.count)
	}
	copy(b, s.head[:s.headLen])
}

// Free takes the packets of b, which were sent or copied, and resets it.
func (h *Host) Free(b *packet.Batch) {
	for k := range b.Len() {
		for _, f := range b.At(k).Shared().Frags[:b.NumFrags(k)] {
			h.pages.put(f.Ref)
		}
		h.slab.Free(b.Index(k))
	}
	b.Reset()
}

// Close gives the memory back. It reports what did not come home.
func (h *Host) Close() error {
	for i := range h.sockets {
		h.pages.leave(&h.sockets[i].run)
	}
	h.pages.close()
	if h.slab == nil {
		return nil
	}
	var err error
	if packets, pages := h.slab.InUse(), h.pages.out(); packets+pages != 0 {
		err = fmt.Errorf("rr: %d packets and %d pages did not come home", packets, pages)
	}
	return errors.Join(err, h.slab.Close())
}
