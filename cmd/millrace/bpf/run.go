package bpf

import (
	"fmt"
	"os"
	"strconv"

	"github.com/cilium/ebpf"

	"github.com/millrace-net/millrace/header"
)

// An Outcome is what became of a frame: the verdict of the program, or why
// the program was not run.
type Outcome uint8

// Verdicts, the first five with the numbers of enum xdp_action.
const (
	Aborted Outcome = iota
	Drop
	Pass
	Tx
	Redirect
	Invalid // another number: a driver drops the frame as with Aborted

	// The program was not run.
	NotEthernet // a frame of another link type
	TooShort    // shorter than an Ethernet header
	NeedsFrags  // longer than one buffer, which is all that the program takes
	TooLong     // longer than what the kernel takes at all

	NumOutcomes
)

var outcomes = [NumOutcomes]string{
	"aborted", "drop", "pass", "tx", "redirect", "invalid",
	"not ethernet", "too short", "needs frags", "too long",
}

func (o Outcome) String() string { return outcomes[o] }

// Ran tells verdicts from reasons why the program was not run.
func (o Outcome) Ran() bool { return o <= Invalid }

// Passes tells whether the receive path gets the frame: the program passed it,
// or was not run.
func (o Outcome) Passes() bool { return o == Pass || !o.Ran() }

// Stats counts frames by outcome.
type Stats [NumOutcomes]uint64

// What the kernel's test run takes (net/bpf/test_run.c).
const (
	minBytes      = header.EthernetBytes
	headroomBytes = 256 // XDP_PACKET_HEADROOM
	tailroomBytes = 320 // struct skb_shared_info, in whole cache lines
	maxFrags      = 17  // pages behind the page of the first buffer (MAX_SKB_FRAGS)
)

// linearBytes is the longest frame that fits one buffer: 3520 with pages of
// 4096 bytes.
func linearBytes() int { return os.Getpagesize() - headroomBytes - tailroomBytes }

// Name is that of the program in its object.
func (p *Program) Name() string { return p.name }

// MaxMTU is the highest MTU with which every frame can be given to the program.
// A driver reserves 22 bytes beside it: Ethernet, a VLAN tag, the check
// sequence.
func (p *Program) MaxMTU() int { return p.limit - 22 }

// Stats counts the frames so far.
func (p *Program) Stats() Stats { return p.stats }

// Run runs the program on a copy of frame. It returns the outcome and the
// frame as the program left it, without metadata in front of it, lent until
// the next Run; a frame that went past the program is returned itself.
func (p *Program) Run(link header.LinkType, frame []byte) (Outcome, []byte, error) {
	if o := p.past(link, len(frame)); !o.Ran() {
		p.stats[o]++
		return o, frame, nil
	}
	verdict, after, err := testRun(p.run, frame, p.out)
	if err != nil {
		return Aborted, nil, fmt.Errorf("test run of program %s: %w", p.name, err)
	}
	o := Outcome(min(verdict, uint32(Invalid)))
	p.stats[o]++
	return o, after, nil
}

// past says why the program cannot be given such a frame, or Pass.
func (p *Program) past(link header.LinkType, n int) Outcome {
	switch {
	case link != header.LinkEthernet:
		return NotEthernet
	case n < minBytes:
		return TooShort
	case n <= p.limit:
		return Pass
	case p.frags:
		return TooLong
	}
	return NeedsFrags
}

// Notes says of each outcome that needs an explanation how many frames had it
// and what to do about it, a line each.
func (p *Program) Notes() (notes []string) {
	const past = " frames went past the program: "
	add := func(o Outcome, text string) {
		if n := p.stats[o]; n > 0 {
			notes = append(notes, strconv.FormatUint(n, 10)+text)
		}
	}
	add(Invalid, " frames got a verdict that does not exist: a driver drops them as aborted")
	add(NotEthernet, past+"XDP sees Ethernet only")
	add(TooShort, past+fmt.Sprintf("they are shorter than %d bytes", minBytes))
	add(NeedsFrags, past+fmt.Sprintf("it takes one buffer of %d bytes, "+
		`put it into section "xdp.frags" for longer frames`, p.limit))
	add(TooLong, past+fmt.Sprintf("the kernel's test run ends at %d bytes", p.limit))
	return notes
}

// xdpMD is struct xdp_md. As input it says that all data is frame; as output,
// where the frame begins behind the metadata that the program put in front.
type xdpMD struct {
	Data, DataEnd, DataMeta       uint32
	Ingress, Queue, EgressIfindex uint32
}

// testRun runs a program once. What it returns is a part of out.
func testRun(p *ebpf.Program, frame, out []byte) (verdict uint32, after []byte, err error) {
	md := xdpMD{DataEnd: uint32(len(frame))}
	o := ebpf.RunOptions{Data: frame, DataOut: out, Context: md, ContextOut: &md, Repeat: 1}
	if verdict, err = p.Run(&o); err != nil {
		return 0, nil, err
	}
	if uint64(md.Data) > uint64(len(o.DataOut)) {
		return 0, nil, fmt.Errorf("the kernel says that the frame begins at %d of %d bytes",
			md.Data, len(o.DataOut))
	}
	return verdict, o.DataOut[md.Data:], nil
}
