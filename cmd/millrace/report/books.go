package report

import (
	"fmt"

	"github.com/millrace-net/millrace/port"
)

// imbalance compares the books of device, queues, GRO and loop. Each line
// names two figures that should be equal; none means that every frame was
// delivered or dropped for a reason, and that all memory is home.
func imbalance(s *port.Stats) []string {
	list := []string{}
	differ := func(what string, have, want uint64) {
		if have != want {
			list = append(list, fmt.Sprintf("%s: %d, want %d", what, have, want))
		}
	}
	d := &s.Device
	differ("frames the device lost count of", uint64(d.Unaccounted()), 0)
	differ("frames the device still holds", d.RxPending, 0)
	var received, delivered uint64
	for i := range s.Queues {
		q := &s.Queues[i]
		received += q.RX.Received()
		delivered += q.RX.Delivered
		dropped := uint64(0)
		for _, n := range q.RX.Drops {
			dropped += n
		}
		name := fmt.Sprintf("queue %d: ", i)
		differ(name+"delivered and dropped", q.RX.Delivered+dropped, q.RX.Received())
		differ(name+"packets held by GRO", uint64(q.GRO.Held), 0)
		b := &q.Books
		differ(name+"pages in known places",
			uint64(b.Free+b.Posted+b.Waiting+b.Filler+b.Held), uint64(b.Total))
		differ(name+"pages held by packets", uint64(b.Held), 0)
		differ(name+"packet records in use", uint64(b.Packets), 0)
		differ(name+"small heads in use", uint64(b.Heads), 0)
	}
	differ("packets the queues received", received, offered(d))
	handled, merged := s.Packets, uint64(0)
	for _, n := range s.Drops {
		handled += n
	}
	for i := range s.Queues {
		merged += s.Queues[i].GRO.Merged
	}
	differ("packets handled and merged", handled+merged, delivered)
	sendBooks(s, differ)
	return list
}
