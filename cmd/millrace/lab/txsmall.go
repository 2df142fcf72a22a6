package lab

import (
	"github.com/millrace-net/millrace/cmd/millrace/lab/method"
	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/mem"
	"github.com/millrace-net/millrace/rx"
	"github.com/millrace-net/millrace/tx"
)

// txSmall is S3: a small message of TCP is headers and a page fragment, two
// mappings for a few bytes.
var txSmall = Experiment{
	Name:     "tx-small",
	Question: "What does it save to copy small packets instead of mapping them?",
	Rate:     "mpps_per_driver_core",
	Rounds:   12,
	Metrics: []result.Metric{
		{Name: "mpps_per_driver_core", Label: "M/s per driver core", Digits: 3},
		{Name: "ns_per_packet", Label: "ns/packet", Digits: 1},
		{Name: "maps_per_packet", Label: "maps/packet", Digits: 2},
		{Name: "invalidations_per_packet", Label: "invalidations/packet", Digits: 3},
		{Name: "doorbells_per_packet", Label: "doorbells/packet", Digits: 3},
		{Name: "wqe_bytes_per_packet", Label: "WQE bytes/packet", Digits: 0},
	},
	Build:    buildTxSmall,
	Claims:   txSmallClaims,
	Findings: txSmallFindings,
	Pictures: txSmallPictures,
}

// A txBench is the memory that all groups share.
type txBench struct {
	*Bench
	rings *mem.Region         // of the receive queue
	pages map[int]*mem.Region // of payload, by the size of a page
	limit map[tx.Copybreak]error
}

// payloadPages is more than connections hold and the ring may name, and less
// than bounce slots hold where all are kept mapped.
const payloadPages = 768

func buildTxSmall(b *Bench) (err error) {
	plan, err := (rx.Config{Entries: rrEntries}).Plan()
	if err != nil {
		return err
	}
	t := txBench{Bench: b, pages: map[int]*mem.Region{}, limit: map[tx.Copybreak]error{}}
	if t.rings, err = b.region(4<<10, plan.Pages+256); err != nil {
		return err
	}
	for _, g := range txGroups(b.Quick) {
		if err := t.group(g); err != nil {
			return err
		}
	}
	b.Notes = append(b.Notes,
		"a packet is one that is sent; with rr1c it is a transaction: one request is received "+
			"for it, and M/s are transactions",
		"the driver's time is Reap, Poll, GRO, application, Free, Post and Flush; device and "+
			"client are timed apart (device_ns_per_packet, client_ns_per_packet)",
		"every frame on the wire is checked; at the end of each measurement maps = unmaps, and "+
			"every page and packet is home",
		"way=auto has premapped buffers of 2048 bytes, premapped as large ones as the threshold "+
			"needs; way=headers copies headers alone, way=kept does and has payload in pages "+
			"that stay mapped",
		"an invalidation takes no longer than its work in the model (dma.Config.InvalidateNs 0), "+
			"less than in hardware; invalidate=1000ns: it takes that long (facts/mlx5e.md 8.3: "+
			"microseconds for an SMMU without contention)")
	return nil
}

// group adds the variants of a group that can be had, and their baseline.
func (t *txBench) group(cases txGroup) error {
	base := cases[0]
	base.way, base.copybreak = wayMapped, everything
	s, err := t.setup(base)
	if err != nil {
		return err
	}
	g := method.Group{Baseline: method.Variant{Name: base.name(), Measure: s.measure}}
	for _, c := range cases {
		if why := t.refused(c); why != nil {
			t.NotRun = append(t.NotRun, result.NotRun{Name: c.name(), Reason: why.Error()})
			continue
		}
		s, err := t.setup(c)
		if err != nil {
			return err
		}
		g.Variants = append(g.Variants, method.Variant{Name: c.name(), Measure: s.measure})
	}
	if len(g.Variants) > 0 {
		t.Groups = append(t.Groups, g)
	}
	return nil
}

// refused says why a queue does not take the threshold.
func (t *txBench) refused(c txCase) error {
	cfg := c.config()
	why, known := t.limit[cfg.Copybreak]
	if !known {
		var q *tx.Queue
		if q, why = tx.New(cfg, dma.New(dma.Config{})); why == nil {
			why = q.Close()
		}
		t.limit[cfg.Copybreak] = why
	}
	return why
}

func (t *txBench) setup(c txCase) (*sendSetup, error) {
	pages := t.pages[c.pageBytes]
	if pages == nil {
		var err error
		if pages, err = t.region(c.pageBytes, payloadPages); err != nil {
			return nil, err
		}
		t.pages[c.pageBytes] = pages
	}
	return &sendSetup{
		profile: c.profile, size: c.size, batch: c.batch,
		dma: dma.Config{Mode: c.iommu, InvalidateNs: c.invalidateNs}, tx: c.config(),
		rings: t.rings, pages: pages,
	}, nil
}
