package workload

import (
	"errors"
	"io"

	"github.com/millrace-net/millrace/cmd/millrace/capture"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/nic"
)

// A Replay sends the frames of a capture file as fast as the device takes
// them. Each keeps the time of the file.
type Replay struct {
	reader  *capture.Reader
	frame   capture.Frame
	remain  uint64
	err     error
	numbers [header.NumLinkTypes]linkNumber
}

// linkNumber is what the file called a link type.
type linkNumber struct {
	number uint16
	seen   bool
	mixed  bool // there were several numbers for it
}

// NewReplay makes a wire of r, which the caller closes after it, that ends
// after count frames; 0 means with the file.
func NewReplay(r *capture.Reader, count uint64) *Replay {
	if count == 0 {
		count = 1<<64 - 1
	}
	return &Replay{reader: r, remain: count}
}

// Next lends the next frame until it is called again. False means the end of
// the file, or of the count.
func (p *Replay) Next(_ int64, out *nic.Frame) bool {
	if p.remain == 0 {
		return false
	}
	if err := p.reader.Next(&p.frame); err != nil {
		p.remain = 0
		if !errors.Is(err, io.EOF) {
			p.err = err
		}
		return false
	}
	p.remain--
	p.note(p.frame.Link, p.frame.LinkNumber)
	out.Data, out.Link, out.Time = p.frame.Data, p.frame.Link, p.frame.Time
	return true
}

func (p *Replay) note(link header.LinkType, number uint16) {
	n := &p.numbers[link]
	n.mixed = n.mixed || n.seen && n.number != number
	n.number, n.seen = number, true
}

// Err says why the file could not be read to its end; nil if it could.
func (p *Replay) Err() error { return p.err }

// NumberOf is the LINKTYPE to write for packets of link. Packets do not carry
// it, so it is that of the frames so far, if all had the same; false says that
// they had several and that none of them is right for all.
func (p *Replay) NumberOf(link header.LinkType) (uint16, bool) {
	if n := p.numbers[link]; n.seen && !n.mixed {
		return n.number, true
	}
	return capture.NumberOf(link)
}
