package desc

// Limits of send queues (facts/mlx5e.md 1.1, 1.2).
const (
	MinLogSQ          = 6
	MaxLogSQ          = 13
	BlocksPerFragment = 64 // 4 KiB: no WQE crosses the edge of one
	BlockBytes        = 64
	SegmentsPerBlock  = 4
	SegmentBytes      = 16
	MaxSendSegments   = 63 // of the 6 bits
	MaxSendBlocks     = 16

	// A WQE that is filled until nothing fits: 16 blocks would be 64 segments,
	// which 6 bits cannot say (facts/mlx5e.md 12, bug 41).
	MaxMultiBlocks   = 15
	MaxMultiSegments = MaxMultiBlocks * SegmentsPerBlock
)

// A SendBlock is the unit of a send queue: four segments of 16 bytes (WQEBB).
type SendBlock [64]byte

// Control views the first segment of a WQE's first block.
func (b *SendBlock) Control() *ControlSegment { return (*ControlSegment)(b[0:16]) }

// Eth views the second segment of a WQE's first block.
func (b *SendBlock) Eth() *EthSegment { return (*EthSegment)(b[16:32]) }

// Data views segment i of the block, 0 to 3, as a pointer to memory.
func (b *SendBlock) Data(i int) *DataSegment { return (*DataSegment)(b[16*i : 16*i+16]) }

// An SQ is a send queue: a cyclic queue of blocks, of which a WQE takes one or
// more. The driver writes blocks that the device does not have and rings
// Producer; the device has done them when a completion names the WQE or a later
// one.
type SQ struct {
	CQ       *CQ
	Producer Doorbell // blocks posted, 16 bits significant
	Blocks   []SendBlock
	Number   uint32 // 24 bits; every WQE carries it

	lifecycle
}

// NewSQ lays out a send queue of 1<<log blocks in state Reset. Its CQ needs as
// many entries.
func NewSQ(log int, number uint32, cq *CQ) (*SQ, error) {
	if err := within("log of the send queue", log, MinLogSQ, MaxLogSQ); err != nil {
		return nil, err
	}
	if err := within("number of the send queue", int(number), 0, 1<<24-1); err != nil {
		return nil, err
	}
	if err := within("log of its CQ", int(cq.LogEntries), log, maxLogCQ); err != nil {
		return nil, err
	}
	q := &SQ{CQ: cq, Blocks: alignedBlocks(1 << log), Number: number}
	q.Reinit()
	return q, nil
}

// Reinit starts over at counter 0, with the CQ. The queue must be in state
// Reset.
func (q *SQ) Reinit() {
	q.Producer.Ring(0)
	q.CQ.Reinit()
}

// At is the block for a counter that runs freely.
func (q *SQ) At(counter uint32) *SendBlock { return &q.Blocks[counter&uint32(len(q.Blocks)-1)] }

// Fragment is all bytes from a block to the end of its fragment, at most 4096:
// where the WQE that begins there lies.
func (q *SQ) Fragment(counter uint32) []byte {
	i := counter & uint32(len(q.Blocks)-1)
	end := (i | (BlocksPerFragment - 1)) + 1
	return blockBytes(q.Blocks[i:end:end])
}
