package dma

// A tree holds free ranges of granules, by address: a treap whose nodes know
// the longest range below them. Nodes are numbers in a slice, and reused.
type tree struct {
	nodes  []span // 0 is no node
	root   uint32
	unused uint32 // list by left
	seed   uint32
}

type span struct {
	start, n    uint32
	longest     uint32 // of this node and those below
	rank        uint32 // a parent's is at least its children's
	left, right uint32
}

func (t *tree) init() { t.nodes, t.seed = make([]span, 1, 64), 1 }

// take cuts n granules, aligned to align, from the highest range that has
// them.
func (t *tree) take(n, align uint32) (start uint32, ok bool) {
	at := t.fit(t.root, n, align)
	if at == 0 {
		return 0, false
	}
	s := t.nodes[at]
	start = (s.start + s.n - n) &^ (align - 1)
	low, rest := t.split(t.root, s.start)
	rest, _ = t.cutFirst(rest)
	if start > s.start {
		low = t.merge(low, t.add(s.start, start-s.start))
	}
	if end := s.start + s.n; end > start+n {
		rest = t.merge(t.add(start+n, end-start-n), rest)
	}
	t.root = t.merge(low, rest)
	return start, true
}

// fit finds the highest node below i that holds n aligned granules.
func (t *tree) fit(i, n, align uint32) uint32 {
	s := &t.nodes[i]
	if i == 0 || s.longest < n {
		return 0
	}
	if found := t.fit(s.right, n, align); found != 0 {
		return found
	}
	if s.n >= n && (s.start+s.n-n)&^(align-1) >= s.start {
		return i
	}
	return t.fit(s.left, n, align)
}

// give returns n granules and joins them with free neighbours.
func (t *tree) give(start, n uint32) {
	low, high := t.split(t.root, start)
	if before, at := t.cutLast(low); at.n > 0 {
		if at.start+at.n == start {
			start, n = at.start, n+at.n
		} else {
			before = t.merge(before, t.add(at.start, at.n))
		}
		low = before
	}
	if after, at := t.cutFirst(high); at.n > 0 {
		if at.start == start+n {
			n += at.n
		} else {
			after = t.merge(t.add(at.start, at.n), after)
		}
		high = after
	}
	t.root = t.merge(t.merge(low, t.add(start, n)), high)
}

// add makes a node; its rank is pseudo-random (xorshift).
func (t *tree) add(start, n uint32) uint32 {
	t.seed ^= t.seed << 13
	t.seed ^= t.seed >> 17
	t.seed ^= t.seed << 5
	i := t.unused
	if i == 0 {
		t.nodes = append(t.nodes, span{})
		i = uint32(len(t.nodes) - 1)
	} else {
		t.unused = t.nodes[i].left
	}
	t.nodes[i] = span{start: start, n: n, longest: n, rank: t.seed}
	return i
}

func (t *tree) measure(i uint32) {
	s := &t.nodes[i]
	s.longest = max(s.n, t.nodes[s.left].longest, t.nodes[s.right].longest)
}

// split parts the nodes below i into those that start before start, and the
// others.
func (t *tree) split(i, start uint32) (low, high uint32) {
	if i == 0 {
		return 0, 0
	}
	s := &t.nodes[i]
	if s.start < start {
		s.right, high = t.split(s.right, start)
		t.measure(i)
		return i, high
	}
	low, s.left = t.split(s.left, start)
	t.measure(i)
	return low, i
}

// merge joins two trees, all of low before all of high.
func (t *tree) merge(low, high uint32) uint32 {
	if low == 0 || high == 0 {
		return low + high
	}
	if l := &t.nodes[low]; l.rank > t.nodes[high].rank {
		l.right = t.merge(l.right, high)
		t.measure(low)
		return low
	}
	h := &t.nodes[high]
	h.left = t.merge(low, h.left)
	t.measure(high)
	return high
}

// cutFirst takes the lowest node out of the tree i; at.n is 0 if there is
// none. cutLast takes the highest.
func (t *tree) cutFirst(i uint32) (rest uint32, at span) {
	s := &t.nodes[i]
	if i == 0 {
		return 0, span{}
	}
	if s.left == 0 {
		return t.drop(i, s.right)
	}
	s.left, at = t.cutFirst(s.left)
	t.measure(i)
	return i, at
}

func (t *tree) cutLast(i uint32) (rest uint32, at span) {
	s := &t.nodes[i]
	if i == 0 {
		return 0, span{}
	}
	if s.right == 0 {
		return t.drop(i, s.left)
	}
	s.right, at = t.cutLast(s.right)
	t.measure(i)
	return i, at
}

func (t *tree) drop(i, rest uint32) (uint32, span) {
	at := t.nodes[i]
	t.nodes[i].left, t.unused = t.unused, i
	return rest, at
}
