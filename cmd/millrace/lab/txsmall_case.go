package lab

import (
	"fmt"
	"math/bits"

	"github.com/millrace-net/millrace/cmd/millrace/lab/rr"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/tx"
)

// A txCase is one point of the matrix of tx-small.
type txCase struct {
	profile      rr.Profile // the zero value: a flood
	size         int        // of a flood: bytes of a frame
	iommu        dma.Mode
	invalidateNs int // least time of an invalidation
	way          string
	copybreak    int // bytes; -1: as far as the way goes
	pageBytes    int // of payload
	batch        int // packets a doorbell
}

// Ways by their names in cases. Headers is premapped with a threshold of 0: the
// linear part in front of fragments is copied, nothing else. Kept is the same
// with payload in pages that stay mapped, as those of a page pool.
const (
	wayMapped    = "mapped"
	wayInline    = "inline"
	wayPremapped = "premapped"
	wayHeaders   = "headers"
	wayKept      = "kept"
	wayLinearize = "linearize"
	wayAuto      = "auto"
)

var (
	txWays       = []string{wayAuto, wayInline, wayPremapped, wayHeaders, wayKept, wayLinearize}
	txSizes      = []int{64, 128, 192, 256, 512, 1024, 1514}
	txThresholds = []int{64, 128, 192, 256, 512, 1024, 2048}
	txModes      = []dma.Mode{dma.Strict, dma.Passthrough, dma.Lazy, dma.Bounce}
)

// What a case has unless its name says something else.
const (
	txBatch     = 32
	txPageBytes = 4 << 10
	everything  = -1
)

// request is a case of requests and responses, threshold and all else as usual.
func request(req, resp, conns int, mode dma.Mode, way string) txCase {
	return txCase{
		profile: rr.Profile{Request: req, Response: resp, Conns: conns}, iommu: mode, way: way,
		copybreak: everything, pageBytes: txPageBytes, batch: txBatch,
	}
}

func flood(size int, mode dma.Mode, way string, copybreak int) txCase {
	return txCase{
		size: size, iommu: mode, way: way, copybreak: copybreak, pageBytes: txPageBytes,
		batch: txBatch,
	}
}

// name gives a flood all its keys. Requests and responses have those that are
// not as usual.
func (c txCase) name() string {
	name, all := c.profile.String(), c.size != 0
	if all {
		name = fmt.Sprintf("flood/size=%d", c.size)
	}
	name += "/iommu=" + c.iommu.String()
	if c.invalidateNs != 0 {
		name += fmt.Sprintf("/invalidate=%dns", c.invalidateNs)
	}
	name += "/way=" + c.way
	if c.copybreak != everything && c.way != wayAuto && c.way != wayMapped {
		name += fmt.Sprintf("/copybreak=%d", c.copybreak)
	}
	if all || c.pageBytes != txPageBytes {
		name += fmt.Sprintf("/pages=%dKiB", c.pageBytes>>10)
	}
	if all || c.batch != txBatch {
		name += fmt.Sprintf("/batch=%d", c.batch)
	}
	return name
}

// frameBytes is the length of a frame that the case sends.
func (c txCase) frameBytes() int {
	if c.size != 0 {
		return c.size
	}
	return c.profile.FrameBytes()
}

// config is the send queue of the case. Buffers are as large as the threshold
// asks for.
func (c txCase) config() tx.Config {
	var cfg tx.Config
	n := max(c.copybreak, 0)
	if c.copybreak == everything {
		n = c.frameBytes()
	}
	switch c.way {
	case wayInline:
		cfg.Copybreak = tx.Copybreak{Way: tx.Inline, Bytes: n}
	case wayPremapped:
		cfg.Copybreak = tx.Copybreak{Way: tx.Premapped, Bytes: n}
		cfg.BufBytes = bufBytes(n)
	case wayHeaders, wayKept:
		cfg.Copybreak = tx.Copybreak{Way: tx.Premapped}
		cfg.KeptMapped = c.way == wayKept
	case wayLinearize:
		cfg.Copybreak = tx.Copybreak{Way: tx.Linearize, Bytes: n}
	case wayAuto:
		cfg.Copybreak = tx.Copybreak{Auto: true}
		cfg.BufBytes = largestBuf
	}
	return cfg
}

// Sizes of premapped buffers (tx-copybreak-buf-size). What is measured to be
// cheapest may use the largest.
const (
	smallestBuf = 256
	largestBuf  = 2048
)

// bufBytes is the size of buffers that hold n bytes.
func bufBytes(n int) int { return max(smallestBuf, 1<<bits.Len(uint(n-1))) }
