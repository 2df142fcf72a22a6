package lab

import (
	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/internal/cpu"
	"github.com/millrace-net/millrace/tx"
)

// A sendReading is where the counts of a send path stand.
type sendReading struct {
	driver, device, client uint64 // ticks; the device's without the client's
	tx                     tx.Stats
	dma                    dma.Stats
	blocks                 uint64
	copybreak              tx.Copybreak // in force
}

// read is exact but for what the last turn did: as much at either end of a lap.
func (h *sendPath) read() sendReading {
	client := h.far().Ticks
	return sendReading{
		driver: h.driver, device: h.device - client, client: client,
		tx: h.queue.Stats(), dma: h.dom.Stats(), blocks: h.blocks,
		copybreak: h.queue.Effective().InForce,
	}
}

// since is what happened from before on, by packet.
func (r *sendReading) since(before *sendReading) result.Values {
	n := float64(r.tx.Posted - before.tx.Posted)
	per := func(now, then uint64) float64 { return float64(now-then) / n }
	ns := cpu.Nanoseconds(r.driver - before.driver)
	return result.Values{
		"mpps_per_driver_core":     n / ns * 1e3,
		"ns_per_packet":            ns / n,
		"device_ns_per_packet":     cpu.Nanoseconds(r.device-before.device) / n,
		"client_ns_per_packet":     cpu.Nanoseconds(r.client-before.client) / n,
		"maps_per_packet":          per(r.dma.Maps, before.dma.Maps),
		"unmaps_per_packet":        per(r.dma.Unmaps, before.dma.Unmaps),
		"invalidations_per_packet": per(r.dma.Invalidations, before.dma.Invalidations),
		"doorbells_per_packet":     per(r.tx.Doorbells, before.tx.Doorbells),
		"wqe_bytes_per_packet":     desc.BlockBytes * per(r.blocks, before.blocks),
		"copybreak_bytes":          float64(r.copybreak.Bytes),
		"copybreak_way":            float64(r.copybreak.Way), // see tx.Way
	}
}
