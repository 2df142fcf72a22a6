package packet

import "unsafe"

var (
	_ [RecordBytes]byte = [unsafe.Sizeof(Packet{})]byte{}
	_ [SharedBytes]byte = [unsafe.Sizeof(SharedInfo{})]byte{}
	_ [12]byte          = [unsafe.Sizeof(Frag{})]byte{}
)

// Shared is the SharedInfo of the packet's head buffer. At checks that all of
// it lies in the page; Start and Room are multiples of 64, so it is aligned.
func (p *Packet) Shared() *SharedInfo {
	return (*SharedInfo)(p.Head.At(p.Start+p.Room, SharedBytes))
}
