package dma

// SyncForCPU hands the n bytes at iova to the CPU: reads behind it see what
// the device wrote before it. Without bounce slots there is nothing to do,
// and the call is one load and a branch, inlined.
func (d *Domain) SyncForCPU(iova uint64, n uint32) {
	if d.slots != nil {
		d.syncForCPU(iova, n)
	}
}

func (d *Domain) syncForCPU(iova uint64, n uint32) {
	s, off := d.slots.locate(iova, n, Both)
	if s == nil {
		d.count.driverFaults.Add(1)
		return
	}
	if s.dir&FromDevice != 0 && !s.coherent {
		s.take(off, n)
		d.count.syncCPUBytes.Add(uint64(n))
		d.count.syncCopies.Add(1)
	}
}

// SyncForDevice hands the n bytes at iova back to the device: it reads what
// the CPU wrote, and the CPU must sync before it looks at them again. Without
// bounce slots there is nothing to do.
func (d *Domain) SyncForDevice(iova uint64, n uint32) {
	if d.slots != nil {
		d.syncForDevice(iova, n)
	}
}

func (d *Domain) syncForDevice(iova uint64, n uint32) {
	s, off := d.slots.locate(iova, n, Both)
	if s == nil {
		d.count.driverFaults.Add(1)
		return
	}
	if s.coherent {
		return
	}
	if s.dir&ToDevice == 0 {
		s.hide(s.cpu(off, n), off, n)
		return
	}
	s.give(off, n)
	d.count.syncDeviceBytes.Add(uint64(n))
	d.count.syncCopies.Add(1)
}

// CheckRead reports whether the CPU may read the n bytes at iova. False, and
// counted, when they are not mapped or, with Poison, one of them was not
// synced. In the modes that do not bounce it is always true. It is for tests
// and assertions, not for the data path.
func (d *Domain) CheckRead(iova uint64, n uint32) bool {
	if d.slots == nil {
		return true
	}
	if s, off := d.slots.locate(iova, n, Both); s != nil && s.marked(off, n) {
		return true
	}
	d.count.unsyncedReads.Add(1)
	return false
}
