package pagepool

// Stats are the counts of a pool since it was made, named as ethtool does
// (rx_pp_*, facts/mlx5e.md 5.2 and 5.3). The first four say where a page that
// Alloc gave came from: their sum is the number of pages given.
type Stats struct {
	AllocFast          uint64 // from the cache
	AllocRefill        uint64 // the ring refilled the cache, and gave one
	AllocSlow          uint64 // the source gave up to 64 pages, one was given on
	AllocSlowHighOrder uint64 // the source gave one page larger than 4 KiB
	AllocEmpty         uint64 // the ring was empty
	AllocWaive         uint64 // page of another NUMA node, released

	RecycleCached      uint64 // to the cache
	RecycleCacheFull   uint64 // the cache was full: to the ring
	RecycleRing        uint64 // to the ring
	RecycleRingFull    uint64 // the ring was full: released
	RecycleReleasedRef uint64 // came home behind Close: released

	Inflight       int    // pages taken from the source and not given back to it
	MapFailed      uint64 // page of the source that the domain or the pool refused
	BadPut         uint64 // returned, but not out: a bug of who returned it
	ReturnOverflow uint64 // references that did not fit the return ring: a bug
}

// Stats copies the counts. The owner calls it, behind Close anyone.
func (p *Pool) Stats() Stats {
	p.returns.mu.Lock()
	defer p.returns.mu.Unlock()
	s := p.stats
	s.Inflight, s.ReturnOverflow = p.total, p.returns.overflow
	return s
}

// out is the number of pages with their users: given and not come home.
func (s *Stats) out() int {
	given := s.AllocFast + s.AllocRefill + s.AllocSlow + s.AllocSlowHighOrder
	home := s.RecycleCached + s.RecycleRing + s.RecycleRingFull + s.RecycleReleasedRef
	return int(given - home)
}

// Books say where the pages are, each figure from its own source:
// Free + Out = Total, always. A page whose last reference waits in the return
// ring is out.
type Books struct {
	Free  int // in the cache and the ring
	Out   int // with their users: given and not come home, by the counters
	Total int // taken from the source and not given back
}

// Books counts the pages. The owner calls it, behind Close anyone.
func (p *Pool) Books() Books {
	p.returns.mu.Lock()
	defer p.returns.mu.Unlock()
	return Books{Free: p.cached + p.waiting, Out: p.stats.out(), Total: p.total}
}
