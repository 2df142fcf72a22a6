package dma

// A cache is a Mapper's free addresses of one class: two magazines, so that a
// Mapper that maps and unmaps in turn at the edge of one does not go to the
// depot each time.
type cache struct {
	loaded, prev *magazine
}

// address is an unused address of n granules. When there is none, the caches
// of all Mappers are emptied and it is tried once more.
func (m *Mapper) address(n uint32) (g uint32, ok bool) {
	if g, ok = m.take(n); !ok {
		m.d.reclaim()
		g, ok = m.take(n)
	}
	return g, ok
}

// take: loaded magazine, previous one, depot, tree.
func (m *Mapper) take(n uint32) (g uint32, ok bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	s := &m.d.iommu.space
	class, size := sized(n)
	if class < classes {
		if g, ok = m.caches[class].pop(s, class); ok {
			m.count.cacheHits++
			return g, true
		}
	}
	m.count.cacheMisses++
	return s.take(size)
}

// give takes back an address that no device can use. m.mu is held.
func (m *Mapper) give(g, n uint32) {
	s := &m.d.iommu.space
	class, size := sized(n)
	if class < classes {
		m.caches[class].push(s, class, g)
		return
	}
	s.give(g, size)
}

func (c *cache) pop(s *space, class int) (g uint32, ok bool) {
	if c.loaded == nil || c.loaded.n == 0 {
		c.loaded, c.prev = c.prev, c.loaded
	}
	if c.loaded == nil || c.loaded.n == 0 {
		full := s.swapEmpty(class, c.loaded)
		if full == nil {
			return 0, false
		}
		c.loaded = full
	}
	c.loaded.n--
	return c.loaded.granules[c.loaded.n], true
}

func (c *cache) push(s *space, class int, g uint32) {
	if c.loaded == nil {
		c.loaded = s.newMagazine()
	}
	if c.loaded.n == magazineSize {
		c.loaded, c.prev = c.prev, c.loaded
	}
	switch {
	case c.loaded == nil:
		c.loaded = s.newMagazine()
	case c.loaded.n == magazineSize:
		c.loaded = s.swapFull(class, c.loaded)
	}
	c.loaded.granules[c.loaded.n] = g
	c.loaded.n++
}

// drain flushes what waits in m's queue, and gives its caches to the tree.
func (d *Domain) drain(m *Mapper) {
	u := d.iommu
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.queue.waiting() > 0 {
		d.flush()
		m.reap()
	}
	for class := range m.caches {
		c := &m.caches[class]
		for _, mag := range []*magazine{c.loaded, c.prev} {
			if mag != nil {
				u.space.spill(class, mag)
			}
		}
	}
}

// reclaim gives the addresses of all caches and flush queues to the tree.
func (d *Domain) reclaim() {
	d.membersMu.Lock()
	defer d.membersMu.Unlock()
	for _, m := range d.members {
		d.drain(m)
	}
	d.iommu.space.empties()
}
