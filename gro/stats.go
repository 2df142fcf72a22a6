package gro

// Stats counts since the start: Packets = Merged + Out + Held.
type Stats struct {
	Packets    uint64 // taken
	Out        uint64 // given on, aggregates counted as one
	Merged     uint64 // packets that became part of another
	ByFrags    uint64 // of those in a Table, by moving memory to the fragments
	ByChain    uint64 // and by chaining the packet (frag_list)
	Aggregates uint64 // given on with something merged into them
	Evicted    uint64 // completed because their bucket was full
	Ordered    uint64 // completed so as not to be overtaken, where Linux would not have
	Held       int    // held at the moment

	Reasons [NumReasons]uint64 // why packets were not merged; ReasonNone is not counted
}

// finish fills in what follows from the rest.
func (s *Stats) finish(held int) {
	s.Held = held
	s.Merged = s.Packets - s.Out - uint64(held)
	s.Reasons[ReasonNone] = 0
}
