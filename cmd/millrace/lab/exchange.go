package lab

import (
	"github.com/millrace-net/millrace/cmd/millrace/lab/rr"
	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/rx"
)

// An exchange is requests and responses: what stands in front of the send
// queue and behind the cable.
type exchange struct {
	rx         *rx.Queue
	merge      *gro.Table
	in, merged *packet.Batch
	server     *rr.Server
	client     *rr.Client
}

const rrEntries = 1024 // of the receive ring

func (h *sendPath) openExchange(m rr.Memory, far *nic.End, seed uint64) (err error) {
	x := new(exchange)
	h.exchange = x
	if x.server, err = rr.NewServer(h.profile, m, seed); err != nil {
		return err
	}
	h.host = &x.server.Host
	if x.client, err = rr.NewClient(h.profile, far, seed); err != nil {
		return err
	}
	cfg := rx.Config{Entries: rrEntries}
	cfg.Memory.Region = h.rings
	cfg.Memory.Provider = newShuffled(h.rings, h.rings.Pages(), seed)
	if x.rx, err = rx.New(cfg, h.dom); err != nil {
		return err
	}
	slab := x.rx.Slab()
	x.in, x.merged = packet.NewBatch(slab, pollBudget), packet.NewBatch(slab, pollBudget)
	if x.merge, err = gro.New(gro.Config{}, slab); err != nil {
		return err
	}
	h.dev.Plug(x.client)
	_, err = h.dev.AddRQ(x.rx.RQ())
	return err
}

// answer takes what has arrived along the receive path and puts the responses
// into out.
func (x *exchange) answer(out *packet.Batch) {
	x.rx.Poll(x.in, pollBudget)
	x.merge.Receive(x.in, x.merged)
	x.merge.Flush(x.merged)
	x.server.Answer(x.merged, out)
	x.rx.Free(x.merged)
}
