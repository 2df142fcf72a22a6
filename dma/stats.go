package dma

import "sync/atomic"

// Stats are the counts of a domain since it was made. When everything is
// closed, Maps equals Unmaps.
type Stats struct {
	Maps         uint64 // pages mapped
	Unmaps       uint64 // pages unmapped
	DeviceFaults uint64 // Reach outside a mapped page: reads and writes
	WriteFaults  uint64 // those of them that were to write
	DriverFaults uint64 // Sync or Unmap of an address that is not mapped

	// PageTable only.
	UnsyncedReads   uint64 // CheckRead of bytes that the device owns
	SyncCPUBytes    uint64
	SyncDeviceBytes uint64
}

type counters struct {
	maps, unmaps, readFaults, writeFaults, driverFaults atomic.Uint64

	unsyncedReads, syncCPUBytes, syncDeviceBytes atomic.Uint64
}

// Stats copies the counts. Any goroutine may call it.
func (d *Domain) Stats() Stats {
	c := &d.count
	writes := c.writeFaults.Load()
	return Stats{
		Maps: c.maps.Load(), Unmaps: c.unmaps.Load(),
		DeviceFaults: c.readFaults.Load() + writes, WriteFaults: writes,
		DriverFaults:    c.driverFaults.Load(),
		UnsyncedReads:   c.unsyncedReads.Load(),
		SyncCPUBytes:    c.syncCPUBytes.Load(),
		SyncDeviceBytes: c.syncDeviceBytes.Load(),
	}
}
