package explain

import (
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"strconv"

	"github.com/millrace-net/millrace/cmd/millrace/capture"
	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/vnet"
)

// frameLine is what is said of a frame.
type frameLine struct {
	Frame  int `json:"frame"`
	CapLen int `json:"caplen"`
	*xdpPart
	HeaderLen int    `json:"header_len"`
	L3        string `json:"l3"`
	L3Offset  uint16 `json:"l3_offset"` // of the innermost IP header; 0: there is none
	L4        string `json:"l4"`
	L4Offset  uint16 `json:"l4_offset"`
	Payload   uint16 `json:"payload_offset"`
	GRO       string `json:"gro"`
	Reason    string `json:"reason"`
}

// packetLine is what is said of a packet that comes out of GRO, with the
// fields of its virtio-net header.
type packetLine struct {
	Len        int    `json:"len"`
	VnetFlags  uint8  `json:"vnet_flags"`
	GSOType    uint8  `json:"gso_type"`
	GSOSize    uint16 `json:"gso_size"`
	CSumStart  uint16 `json:"csum_start"`
	CSumOffset uint16 `json:"csum_offset"`
	SHA1       string `json:"sha1"` // first 16 hex digits, over all bytes
}

// A printer writes lines of one kind, as JSON or as a table.
type printer struct {
	w       io.Writer
	json    *json.Encoder // nil: a table
	packets bool
	vxlan   *header.ParseOptions
}

func newPrinter(w io.Writer, o Options) *printer {
	p := &printer{w: w, packets: o.GRO, vxlan: &header.ParseOptions{VXLAN: o.Merge.VXLAN}}
	switch {
	case o.JSON:
		p.json = json.NewEncoder(w)
		p.json.SetEscapeHTML(false)
	case o.GRO:
		fmt.Fprint(w, packetHead)
	default:
		fmt.Fprintf(w, frameHead, xdpHead(o))
	}
	return p
}

// Heads and lines of the tables.
const (
	frameHead = "frame  caplen  %sheader_len  l3                          at  l4             " +
		"   at  payload  gro     reason\n"
	frameForm  = "%5d  %6d  %s%10d  %-24s %5s  %-14s %5s  %7s  %-6s  %s\n"
	packetHead = "  len  vnet_flags  gso_type  gso_size  csum_start  csum_offset  sha1\n"
	packetForm = "%5d  %10d  %8d  %8d  %10d  %11d  %s\n"
)

// frame completes the line about f and writes it, unless the lines are about
// packets.
func (p *printer) frame(f *capture.Frame, l frameLine) {
	if p.packets {
		return
	}
	var info header.Info
	header.Parse(f.Link, f.Data, p.vxlan, &info)
	l.HeaderLen, l.Payload = header.Length(f.Link, f.Data), info.Payload
	l.L3, l.L3Offset = networkName(f, &info), info.Net
	l.L4, l.L4Offset = transportName(&info), info.L4
	if p.json != nil {
		p.encode(l)
		return
	}
	fmt.Fprintf(p.w, frameForm, l.Frame, l.CapLen, l.columns(), l.HeaderLen,
		l.L3, offset(l.L3Offset, info.Version != 0), l.L4, offset(l.L4Offset, info.L4 != 0),
		offset(l.Payload, info.Payload != 0), l.GRO, l.Reason)
}

// offset is empty where there is nothing to point at.
func offset(at uint16, there bool) string {
	if !there {
		return "-"
	}
	return strconv.Itoa(int(at))
}

// packet writes a line about what came out of GRO, if the lines are about
// that.
func (p *printer) packet(a *gro.Aggregate) {
	if !p.packets {
		return
	}
	h := vnet.For(a)
	l := packetLine{
		Len: a.Len(), VnetFlags: h.Flags(), GSOType: h.GSOType(), GSOSize: h.GSOSize(),
		CSumStart: h.CSumStart(), CSumOffset: h.CSumOffset(), SHA1: digest(a),
	}
	if p.json != nil {
		p.encode(l)
		return
	}
	fmt.Fprintf(p.w, packetForm, l.Len, l.VnetFlags, l.GSOType, l.GSOSize,
		l.CSumStart, l.CSumOffset, l.SHA1)
}

// encode writes a line of JSON. The writer behind it keeps errors.
func (p *printer) encode(line any) { _ = p.json.Encode(line) }

func digest(a *gro.Aggregate) string {
	sum := sha1.New()
	sum.Write(a.Header())
	for _, b := range a.Payload() {
		sum.Write(b)
	}
	return hex.EncodeToString(sum.Sum(nil)[:8])
}
