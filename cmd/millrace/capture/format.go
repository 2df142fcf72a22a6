package capture

import (
	"bufio"
	"fmt"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
	"github.com/gopacket/gopacket/pcapgo"
)

// ngOut writes pcapng: the first frame of each link type makes an interface.
type ngOut struct {
	buf        *bufio.Writer
	w          *pcapgo.NgWriter
	interfaces map[uint16]int // by LINKTYPE
}

func newNgOut(buf *bufio.Writer) *ngOut {
	return &ngOut{buf: buf, interfaces: make(map[uint16]int)}
}

func (o *ngOut) begin(number uint16) (err error) {
	if _, known := o.interfaces[number]; known {
		return nil
	}
	id := 0
	about := pcapgo.NgInterface{
		Name:     fmt.Sprintf("millrace%d", len(o.interfaces)),
		LinkType: layers.LinkType(number),
	}
	if o.w == nil {
		// NgWriter writes to buf itself, since it is a bufio.Writer already.
		o.w, err = pcapgo.NewNgWriterInterface(o.buf, about, pcapgo.NgWriterOptions{
			SectionInfo: pcapgo.NgSectionInfo{Application: "millrace"},
		})
	} else {
		id, err = o.w.AddInterface(about)
	}
	o.interfaces[number] = id
	return err
}

func (o *ngOut) add(number uint16, ci gopacket.CaptureInfo, data []byte) error {
	ci.InterfaceIndex = o.interfaces[number]
	return o.w.WritePacket(ci, data)
}

// pcapOut writes pcap: the first frame decides on the link type.
type pcapOut struct {
	w     *pcapgo.Writer
	link  uint16
	begun bool
}

func newPcapOut(buf *bufio.Writer) *pcapOut { return &pcapOut{w: pcapgo.NewWriterNanos(buf)} }

func (o *pcapOut) begin(number uint16) error {
	if !o.begun {
		o.begun, o.link = true, number
		return o.w.WriteFileHeader(MaxFrameBytes, layers.LinkType(number))
	}
	if number != o.link {
		return fmt.Errorf("a frame of link type %d in a pcap file of link type %d: "+
			"pcap holds one, write pcapng", number, o.link)
	}
	return nil
}

func (o *pcapOut) add(_ uint16, ci gopacket.CaptureInfo, data []byte) error {
	return o.w.WritePacket(ci, data)
}
