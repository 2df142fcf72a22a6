package xdp

import "fmt"

// A Program looks at a frame and says what becomes of it. It is lent the Buff
// until it returns; it may change the bytes and move the ends. It must not
// block.
type Program func(*Buff) Verdict

// Verdict is what becomes of a frame. The numbers are the kernel's.
type Verdict uint32

const (
	Aborted  Verdict = iota // dropped, and counted apart: the program failed
	Drop                    // dropped
	Pass                    // becomes a packet
	Tx                      // goes back out of the port it came from
	Redirect                // goes to the target that Buff.Redirect chose
	numVerdicts
)

var verdictTexts = [numVerdicts]string{"aborted", "drop", "pass", "tx", "redirect"}

func (v Verdict) String() string {
	if v >= numVerdicts {
		return fmt.Sprintf("verdict %d", uint32(v))
	}
	return verdictTexts[v]
}

// Config attaches a program to a receive queue. The zero value is none.
type Config struct {
	Program Program
	Frags   bool // the program handles frames in fragments (xdp.frags)
	Send    SendConfig
}

// HeadRoom is the room in front of a frame that a program may see, in bytes
// (XDP_PACKET_HEADROOM).
const HeadRoom = 256
