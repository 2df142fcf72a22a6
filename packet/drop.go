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
}

func (d Drop) String() string {
	if d >= NumDrops {
		return "unknown"
	}
	return dropTexts[d]
}
