package rr

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/bits"

	"github.com/millrace-net/millrace/checksum"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/cpu"
	"github.com/millrace-net/millrace/nic"
)

// A Client asks, checks the answer and asks again, on all connections of a
// profile. It is the wire of the server's device.
type Client struct {
	end      *nic.End // where answers come from
	profile  Profile
	peers    []peer
	ready    []uint32 // ring of connections that may ask, a power of two
	from, to uint32   // run freely
	request  []byte   // frame: headers of the last connection, payload
	reply    []byte   // payload that is expected
	paused   bool
	Tally
}

// A peer is the client's side of a connection.
type peer struct {
	head  [StampedBytes]byte
	ipSum uint16
	sum   uint32 // of pseudo header, TCP header and payload without what changes
	next  uint32
	want  uint32
	count uint32 // requests sent
	asked bool
}

// A Tally is what a receiver of frames keeps.
type Tally struct {
	Taken uint64 // frames, each as it should be
	CRC   uint32 // of their bytes, in order
	Ticks uint64 // spent on them
	err   error
}

// Err says what went wrong first.
func (t *Tally) Err() error { return t.err }

func (t *Tally) fail(n int, f fault) {
	if t.err == nil {
		t.err = fmt.Errorf("rr: frame %d, connection %d: %s", t.Taken, n, f)
	}
}

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

func (t *Tally) took(frame []byte) {
	t.Taken++
	t.CRC = crc32.Update(t.CRC, castagnoli, frame)
}

// NewClient makes a client for a server of the same profile and seed, whose
// frames come out of e.
func NewClient(p Profile, e *nic.End, seed uint64) (*Client, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	c := &Client{
		end: e, profile: p, peers: make([]peer, p.Conns),
		ready:   make([]uint32, 1<<bits.Len(uint(p.Conns-1))),
		request: make([]byte, StampedBytes+p.Request), reply: make([]byte, p.Response),
	}
	pattern(c.reply)
	pattern(c.request[StampedBytes:])
	for n := range c.peers {
		c.peers[n].open(c, n, seed)
		c.ready[n] = uint32(n)
	}
	c.to = uint32(p.Conns)
	return c, nil
}

func (p *peer) open(c *Client, n int, seed uint64) {
	h := p.head[:]
	write(h, clientEnd(n), serverEnd, c.profile.Request)
	p.ipSum = ^checksum.Sum(h[ip:tcp])
	sum := checksum.Combine(pseudo(h, c.profile.Request), checksum.Sum(h[tcp:]), false)
	sum = checksum.Combine(sum, checksum.Sum(c.request[StampedBytes:]), false)
	p.sum = uint32(sum)
	p.next, p.want = initial(seed, n, 0), initial(seed, n, 1)
}

// Next lends the next request: on the connection whose answer came first. It
// takes all answers that have arrived.
func (c *Client) Next(_ int64, f *nic.Frame) bool {
	start := cpu.TSC()
	for r := (nic.Frame{}); c.end.Next(0, &r); {
		c.answered(r.Data)
	}
	ok := !c.paused && c.from != c.to
	if ok {
		c.ask(c.ready[c.from&c.mask()])
		c.from++
		f.Data, f.Link, f.Time = c.request, header.LinkEthernet, 0
	}
	c.Ticks += cpu.TSC() - start
	return ok
}

func (c *Client) mask() uint32 { return uint32(len(c.ready) - 1) }

// Pause has the client ask no more; what was asked is still to be answered.
func (c *Client) Pause() { c.paused = true }

// Outstanding is the number of requests without an answer.
func (c *Client) Outstanding() int { return len(c.peers) - int(c.to-c.from) }

// ask writes the request of a connection.
func (c *Client) ask(n uint32) {
	p := &c.peers[n]
	p.asked = true
	p.count++
	h := p.head[:]
	i := header.IPv4At(h, ip)
	i.SetID(uint16(p.count))
	i.SetChecksum(checksum.Replace16(p.ipSum, 0, uint16(p.count)))
	t := header.TCPAt(h, tcp)
	t.SetSeq(p.next)
	t.SetAck(p.want)
	stamp(h, p.count)
	sum := p.sum + p.next>>16 + p.next&0xffff + p.want>>16 + p.want&0xffff +
		2*(p.count>>16+p.count&0xffff)
	sum = sum>>16 + sum&0xffff
	binary.BigEndian.PutUint16(h[tcp+header.TCPSum:], ^uint16(sum>>16+sum))
	p.next += uint32(c.profile.Request)
	copy(c.request, h)
}

// answered takes a response.
func (c *Client) answered(b []byte) {
	n, f := c.check(b)
	if f != "" {
		c.fail(n, f)
		return
	}
	p := &c.peers[n]
	p.asked = false
	p.want += uint32(c.profile.Response)
	c.took(b)
	c.ready[c.to&c.mask()] = uint32(n)
	c.to++
}

// check finds the connection of a response and what is wrong with it.
func (c *Client) check(b []byte) (n int, f fault) {
	if f = inspect(b, StampedBytes, c.reply); f != "" {
		return -1, f
	}
	t := header.TCPAt(b, tcp)
	n = int(t.DstPort()) - portBase
	if n < 0 || n >= len(c.peers) {
		return n, badHeader
	}
	p, to := &c.peers[n], clientEnd(n)
	switch {
	case !between(b, &serverEnd, &to):
		return n, badHeader
	case !p.asked:
		return n, unexpected
	case t.Seq() != p.want || t.Ack() != p.next:
		return n, badSequence
	case b[StampedBytes] != mark(n, p.count-1):
		return n, badPayload
	}
	return n, ""
}
