package capture

import "github.com/millrace-net/millrace/header"

// LinkOf is how frames of LINKTYPE number are to be read. Numbers that are
// assigned (www.tcpdump.org/linktypes.html) but not parsed here are
// LinkOpaque; false says that the number is assigned to nothing.
func LinkOf(number uint16) (header.LinkType, bool) {
	switch number {
	case 1:
		return header.LinkEthernet, true
	case 12, 14, 101, 228, 229:
		return header.LinkRaw, true
	case 113:
		return header.LinkSLL, true
	case 276:
		return header.LinkSLL2, true
	case 0, 108:
		return header.LinkNull, true
	}
	return header.LinkOpaque, assigned(number)
}

// NumberOf is the LINKTYPE that a file gets for frames of link; false for
// LinkOpaque, whose number only the frame's own file knows, and for LinkIPoIB,
// whose number (242) stands for frames with 40 bytes in front of the header.
func NumberOf(link header.LinkType) (uint16, bool) {
	switch link {
	case header.LinkEthernet:
		return 1, true
	case header.LinkRaw:
		return 101, true
	case header.LinkSLL:
		return 113, true
	case header.LinkSLL2:
		return 276, true
	case header.LinkNull:
		return 0, true
	}
	return 0, false
}

// assignedRanges are the LINKTYPE numbers in use, first and last, as of the
// year 2026. 147 to 162 are for private use, 208 is reserved.
var assignedRanges = [][2]uint16{{0, 10}, {50, 51}, {99, 207}, {209, 303}}

func assigned(number uint16) bool {
	for _, r := range assignedRanges {
		if r[0] <= number && number <= r[1] {
			return true
		}
	}
	return false
}
