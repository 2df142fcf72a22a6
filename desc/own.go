package desc

// An OwnWord is the last word of a completion, which passes it to the driver:
// bits 31:16 WQE counter, 15:8 signature or validity, 7:4 opcode, 3:2 format,
// 1 solicited, 0 owner.
type OwnWord uint32

// Opcode of a completion (facts/mlx5e.md 2.2).
type Opcode uint8

const (
	OpReq         Opcode = 0
	OpRespWrImm   Opcode = 1
	OpRespSend    Opcode = 2 // a received frame
	OpRespSendImm Opcode = 3
	OpRespSendInv Opcode = 4
	OpResizeCQ    Opcode = 5
	OpNoPacket    Opcode = 6
	OpSigErr      Opcode = 12
	OpReqErr      Opcode = 13
	OpRespErr     Opcode = 14 // an error on receive
	OpInvalid     Opcode = 15 // never written
)

// Format of a completion.
type Format uint8

const (
	FormatPlain      Format = 0
	FormatInline32   Format = 1
	FormatInline64   Format = 2
	FormatCompressed Format = 3
)

// initialOwn is what a slot holds before the device has written it: the owner
// bit mismatches lap 0, and so does the validity.
const initialOwn OwnWord = initialValidity<<8 | initialOpOwn

const (
	initialValidity = 0xff
	initialOpOwn    = 0xf1
)

// PackOwn packs an ownership word; the lap stands in the owner bit and in the
// validity byte, so that it is right for every Compression.
func PackOwn(counter uint16, op Opcode, f Format, lap uint32) OwnWord {
	return OwnWord(counter)<<16 | OwnWord(uint8(lap))<<8 |
		OwnWord(op&15)<<4 | OwnWord(f&3)<<2 | OwnWord(lap&1)
}

// WQECounter is the stride where the packet starts (striding), or the WQE's
// counter (cyclic).
func (w OwnWord) WQECounter() uint16 { return uint16(w >> 16) }

// Validity is the lap the device was in, with CompressEnhanced.
func (w OwnWord) Validity() uint8 { return uint8(w >> 8) }

// Opcode is the opcode; for a compressed entry of CompressEnhanced the nibble
// is the number of mini CQEs less one, see Minis.
func (w OwnWord) Opcode() Opcode { return Opcode(w >> 4 & 15) }

// Format is the format.
func (w OwnWord) Format() Format { return Format(w >> 2 & 3) }

// Minis is the number of mini CQEs in a compressed entry of CompressEnhanced,
// 1 to 16. An honest device writes at most MaxMinis.
func (w OwnWord) Minis() int { return int(w>>4&15) + 1 }

// ReadyIn says whether the entry is the driver's in its lap (CQ.Lap). The
// owner bit alone decides: memory that was never written mismatches lap 0, and
// an entry with a made-up opcode has to be seen to be counted.
func (w OwnWord) ReadyIn(lap uint32) bool { return (uint32(w)^lap)&1 == 0 }

// ValidIn is ReadyIn for CompressEnhanced, where the validity byte decides and
// the owner bit is ignored.
func (w OwnWord) ValidIn(lap uint32) bool { return w.Validity() == uint8(lap) }
