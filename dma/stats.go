package dma

import "sync/atomic"

// Stats are the counts of a domain since it was made. What a Mapper did it
// holds as of the Mapper's last Tick or its Close. When everything is closed,
// Maps equals Unmaps.
type Stats struct {
	Maps         uint64 // ranges mapped
	Unmaps       uint64 // ranges unmapped
	Refused      uint64 // ranges not mapped: no address, no slot, slot too small
	DeviceFaults uint64 // Reach outside a mapping or against its Dir: reads and writes
	WriteFaults  uint64 // those of them that were to write
	DriverFaults uint64 // Sync or Unmap of an address that is not mapped

	// Strict, Lazy.
	Invalidations uint64 // of the IOTLB: of a range or of everything
	Flushes       uint64 // those of everything
	CacheHits     uint64 // addresses from a Mapper's cache or the depot
	CacheMisses   uint64 // addresses from the tree
	TLBHits       uint64
	TLBMisses     uint64 // table walks, with or without a result

	// Bounce.
	BounceCopies    uint64 // at Map, Unmap and Sync
	BounceBytes     uint64
	SyncCPUBytes    uint64
	SyncDeviceBytes uint64
	UnsyncedReads   uint64 // CheckRead of bytes that the device owns
	UnsyncedWrites  uint64 // Poison: ranges that the CPU changed while the device was to read
}

// A tally is what one Mapper counts. Only its owner writes it.
type tally struct {
	maps, unmaps, refused, driverFaults uint64

	invalidations, cacheHits, cacheMisses uint64
	copies, copyBytes                     uint64
}

func (t *tally) bounced(n uint32) {
	t.copies++
	t.copyBytes += uint64(n)
}

func (t *tally) add(o *tally) {
	t.maps += o.maps
	t.unmaps += o.unmaps
	t.refused += o.refused
	t.driverFaults += o.driverFaults
	t.invalidations += o.invalidations
	t.cacheHits += o.cacheHits
	t.cacheMisses += o.cacheMisses
	t.copies += o.copies
	t.copyBytes += o.copyBytes
}

// counters are what any goroutine counts.
type counters struct {
	readFaults, writeFaults, driverFaults     atomic.Uint64
	syncCopies, syncCPUBytes, syncDeviceBytes atomic.Uint64
	unsyncedReads, unsyncedWrites             atomic.Uint64
}

// Stats copies the counts. Any goroutine may call it.
func (d *Domain) Stats() Stats {
	c, t := &d.count, d.tally()
	writes, toCPU, toDevice := c.writeFaults.Load(), c.syncCPUBytes.Load(), c.syncDeviceBytes.Load()
	s := Stats{
		Maps: t.maps, Unmaps: t.unmaps, Refused: t.refused,
		DeviceFaults: c.readFaults.Load() + writes, WriteFaults: writes,
		DriverFaults:  t.driverFaults + c.driverFaults.Load(),
		Invalidations: t.invalidations, CacheHits: t.cacheHits, CacheMisses: t.cacheMisses,
		BounceCopies: t.copies + c.syncCopies.Load(), BounceBytes: t.copyBytes + toCPU + toDevice,
		SyncCPUBytes: toCPU, SyncDeviceBytes: toDevice,
		UnsyncedReads: c.unsyncedReads.Load(), UnsyncedWrites: c.unsyncedWrites.Load(),
	}
	if u := d.iommu; u != nil {
		s.Flushes = u.flush.finished.Load()
		s.Invalidations += s.Flushes
		s.TLBHits, s.TLBMisses = u.tlb.counts()
	}
	return s
}

// tally adds up what the Mappers counted.
func (d *Domain) tally() (sum tally) {
	d.mu.Lock()
	sum = d.main.count
	d.mu.Unlock()
	d.membersMu.Lock()
	defer d.membersMu.Unlock()
	sum.add(&d.closed)
	for _, m := range d.members {
		m.mu.Lock()
		sum.add(&m.shown) // nothing, for main
		m.mu.Unlock()
	}
	return sum
}
