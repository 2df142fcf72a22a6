package dma

// SyncForCPU hands the n bytes at iova to the CPU: reads behind it see what
// the device wrote before it. With Identity there is nothing to do, and the
// call is one load and a branch, inlined.
func (d *Domain) SyncForCPU(iova uint64, n uint32) {
	if d.table != nil {
		d.syncForCPU(iova, n)
	}
}

func (d *Domain) syncForCPU(iova uint64, n uint32) {
	if f, off := d.table.locate(iova, n); f != nil {
		f.take(off, n)
		d.count.syncCPUBytes.Add(uint64(n))
		return
	}
	d.count.driverFaults.Add(1)
}

// SyncForDevice hands the n bytes at iova back to the device: it reads what
// the CPU wrote, and the CPU must sync before it looks at them again. With
// Identity there is nothing to do.
func (d *Domain) SyncForDevice(iova uint64, n uint32) {
	if d.table != nil {
		d.syncForDevice(iova, n)
	}
}

func (d *Domain) syncForDevice(iova uint64, n uint32) {
	if f, off := d.table.locate(iova, n); f != nil {
		f.give(off, n, d.poison)
		d.count.syncDeviceBytes.Add(uint64(n))
		return
	}
	d.count.driverFaults.Add(1)
}

// CheckRead reports whether the CPU may read the n bytes at iova. False, and
// counted, when one of them was not synced. With Identity it is always true.
// It is for tests and assertions, not for the data path.
func (d *Domain) CheckRead(iova uint64, n uint32) bool {
	if d.table == nil {
		return true
	}
	if f, off := d.table.locate(iova, n); f != nil && f.marked(off, n) {
		return true
	}
	d.count.unsyncedReads.Add(1)
	return false
}
