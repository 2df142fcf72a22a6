package gro

// A Reason says why a packet was not merged into another. Every reason has one
// counter and one text.
type Reason uint8

const (
	ReasonNone Reason = iota

	// Nothing was wrong: there was nothing to merge with.
	ReasonFirst // first of its flow: held

	// The packet is not of a kind that is merged.
	ReasonNotIP
	ReasonProtocol
	ReasonUDPOff
	ReasonTunnelPort
	ReasonTunnel
	ReasonHeaderShort
	ReasonHeaderLong
	ReasonIPOptions
	ReasonFragment
	ReasonIPChecksum
	ReasonIPReserved
	ReasonIPLength
	ReasonChecksum
	ReasonUDPZero
	ReasonUDPLength
	ReasonForbidden
	ReasonGSO
	ReasonEmpty
	ReasonFlags

	// The packet differs from the one that was held, which was completed.
	ReasonLink
	ReasonTunnelDiffers
	ReasonFlowLabel
	ReasonExtensions
	ReasonTOS
	ReasonTTL
	ReasonDF
	ReasonIPID
	ReasonAck
	ReasonFlagsDiffer
	ReasonCWR
	ReasonWindow
	ReasonOptions
	ReasonSequence
	ReasonLonger
	ReasonSize
	NumReasons
)

var reasonTexts = [NumReasons]string{
	ReasonNone:          "none",
	ReasonFirst:         "first of its flow",
	ReasonNotIP:         "not IPv4 or IPv6",
	ReasonProtocol:      "neither TCP nor UDP",
	ReasonUDPOff:        "merging of UDP is off",
	ReasonTunnelPort:    "UDP port of a tunnel without IP inside",
	ReasonTunnel:        "GRE header with fields that cannot be rebuilt",
	ReasonHeaderShort:   "transport header cut short or malformed",
	ReasonHeaderLong:    "headers of 256 bytes or more",
	ReasonIPOptions:     "IPv4 options",
	ReasonFragment:      "IP fragment",
	ReasonIPChecksum:    "bad IPv4 header checksum",
	ReasonIPReserved:    "reserved IPv4 flag set",
	ReasonIPLength:      "IP length is not that of the frame (padding, cut)",
	ReasonChecksum:      "bad checksum",
	ReasonUDPZero:       "UDP without checksum",
	ReasonUDPLength:     "UDP length is not that of the packet",
	ReasonForbidden:     "marked not to be merged",
	ReasonGSO:           "merged already, in a way that cannot be added to",
	ReasonEmpty:         "no payload",
	ReasonFlags:         "TCP flags that end an aggregate (PSH, FIN, SYN, RST, URG)",
	ReasonLink:          "link header or VLAN tag differs",
	ReasonTunnelDiffers: "tunnel header differs",
	ReasonFlowLabel:     "IPv6 flow label differs",
	ReasonExtensions:    "IPv6 extension headers differ",
	ReasonTOS:           "TOS or traffic class (DSCP, ECN) differs",
	ReasonTTL:           "TTL or hop limit differs",
	ReasonDF:            "IPv4 DF flag differs",
	ReasonIPID:          "IPv4 ID neither counts up nor stays",
	ReasonAck:           "TCP acknowledgment number differs",
	ReasonFlagsDiffer:   "TCP flags or header length differ",
	ReasonCWR:           "TCP CWR flag",
	ReasonWindow:        "TCP window differs",
	ReasonOptions:       "TCP options differ",
	ReasonSequence:      "not the next TCP sequence number",
	ReasonLonger:        "longer than the first segment",
	ReasonSize:          "the aggregate is full (65535 bytes, 64 datagrams)",
}

func (r Reason) String() string {
	if r >= NumReasons {
		return "unknown"
	}
	return reasonTexts[r]
}

// An Action is what became of a packet.
type Action uint8

const (
	Passed Action = iota // given on at once, as it came
	Held                 // kept, for later ones to be merged into
	Merged               // became part of a held packet
	NumActions
)

var actionTexts = [NumActions]string{Passed: "passed", Held: "held", Merged: "merged"}

func (a Action) String() string {
	if a >= NumActions {
		return "unknown"
	}
	return actionTexts[a]
}

// A Verdict is what became of a packet, and why it was not merged; the reason
// of a merged one is ReasonNone.
type Verdict struct {
	Action Action
	Reason Reason
}
