package desc

import "fmt"

// Syndrome says what went wrong in an error completion (facts/mlx5e.md 2.6).
type Syndrome uint8

const (
	LocalLength       Syndrome = 0x01
	LocalQPOp         Syndrome = 0x02
	LocalProt         Syndrome = 0x04
	WRFlush           Syndrome = 0x05
	MWBind            Syndrome = 0x06
	BadResp           Syndrome = 0x10
	LocalAccess       Syndrome = 0x11
	RemoteInvalReq    Syndrome = 0x12
	RemoteAccess      Syndrome = 0x13
	RemoteOp          Syndrome = 0x14
	TransportRetryExc Syndrome = 0x15
	RNRRetryExc       Syndrome = 0x16
	RemoteAborted     Syndrome = 0x22
)

var syndromeTexts = map[Syndrome]string{
	LocalLength:       "local length error",
	LocalQPOp:         "local queue operation error",
	LocalProt:         "local protection error",
	WRFlush:           "flushed",
	MWBind:            "memory window bind error",
	BadResp:           "bad response",
	LocalAccess:       "local access error",
	RemoteInvalReq:    "remote invalid request",
	RemoteAccess:      "remote access error",
	RemoteOp:          "remote operation error",
	TransportRetryExc: "transport retries exceeded",
	RNRRetryExc:       "receiver not ready, retries exceeded",
	RemoteAborted:     "remote aborted",
}

func (s Syndrome) String() string {
	if t, ok := syndromeTexts[s]; ok {
		return t
	}
	return fmt.Sprintf("syndrome %#02x", uint8(s))
}

// NeedsRecovery says that the queue has stopped and must be reset; other
// syndromes are only counted.
func (s Syndrome) NeedsRecovery() bool { return s == LocalQPOp || s == LocalProt || s == WRFlush }

const (
	offVendorSyndrome = 54
	offSyndrome       = 55
)

// Syndrome is for OpReqErr and OpRespErr only: other completions have the
// timestamp there.
func (c *CQE) Syndrome() Syndrome { return Syndrome(c[offSyndrome]) }

// VendorSyndrome is a further byte without public meaning.
func (c *CQE) VendorSyndrome() uint8 { return c[offVendorSyndrome] }

// SetSyndrome writes both bytes.
func (c *CQE) SetSyndrome(s Syndrome, vendor uint8) {
	c[offVendorSyndrome], c[offSyndrome] = vendor, uint8(s)
}
