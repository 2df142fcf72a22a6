package gro

import (
	"fmt"

	"github.com/millrace-net/millrace/header"
)

// Config says what is merged, and how much is held. The zero value follows
// Linux's defaults.
type Config struct {
	Buckets  int             // a power of two, 8 held packets each; 0 means 256, at most 4096
	VXLAN    []uint16        // UDP ports that carry VXLAN
	UDP      bool            // merge UDP datagrams too (never those of a VXLAN port)
	Verified bool            // all checksums are known to be good: none is computed
	MaxAge   int64           // ns that Table.Expire lets a packet be held; 0 means until then
	Link     header.LinkType // Merger: how frames begin; a Table asks each packet
}

const (
	bucketDepth    = 8 // held packets in a bucket (MAX_GRO_SKBS)
	defaultBuckets = 256
	maxBuckets     = 4096
)

func (c Config) withDefaults() (Config, error) {
	if c.Buckets == 0 {
		c.Buckets = defaultBuckets
	}
	if c.Buckets < 0 || c.Buckets > maxBuckets || c.Buckets&(c.Buckets-1) != 0 {
		return c, fmt.Errorf("gro: Buckets is %d, want a power of two up to %d",
			c.Buckets, maxBuckets)
	}
	if c.Link >= header.NumLinkTypes {
		return c, fmt.Errorf("gro: Link is %d, want a header.LinkType", c.Link)
	}
	if c.MaxAge < 0 {
		return c, fmt.Errorf("gro: MaxAge is %d ns, want 0 or more", c.MaxAge)
	}
	return c, nil
}
