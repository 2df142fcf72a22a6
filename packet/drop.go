package packet

// Drop is the reason a packet went no further. Every reason has one counter
// and one text.
type Drop uint8

const (
	DropNone       Drop = iota
	DropFiltered        // the handler did not want it
	DropOversize        // longer than the MTU allows
	DropNoMemory        // no packet record or head buffer for it
	DropBadCQE          // its completion contradicts what was posted
	DropErrorCQE        // the device reported an error
	DropUnreadable      // payload the CPU cannot read and no headers apart
	DropBadLink         // send: not an Ethernet frame
	DropTooShort        // send: shorter than an Ethernet header
	DropTooLong         // send: longer than the MTU allows, and not to be cut
	DropBadFrags        // send: fragments that are empty, too many, or not what Len says
	DropBadCSum         // send: the checksum to fill in lies outside of the packet
	DropBadGSO          // send: how to cut it contradicts its headers
	DropMapFailed       // send: the device could not be given an address for it
	NumDrops
)

var dropTexts = [NumDrops]string{
	DropNone:       "none",
	DropFiltered:   "filtered by the handler",
	DropOversize:   "longer than the MTU allows",
	DropNoMemory:   "no packet or head buffer free",
	DropBadCQE:     "completion contradicts what was posted",
	DropErrorCQE:   "device reported an error",
	DropUnreadable: "payload unreadable, headers not split",
	DropBadLink:    "not an Ethernet frame",
	DropTooShort:   "shorter than an Ethernet header",
	DropTooLong:    "longer than the MTU allows, and not to be cut",
	DropBadFrags:   "fragments empty, too many or not as long as it says",
	DropBadCSum:    "checksum to fill in lies outside of the packet",
	DropBadGSO:     "how to cut it contradicts its headers",
	DropMapFailed:  "no I/O address for its bytes",
}

func (d Drop) String() string {
	if d >= NumDrops {
		return "unknown"
	}
	return dropTexts[d]
}
