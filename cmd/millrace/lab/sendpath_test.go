package lab

import (
	"errors"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/cmd/millrace/lab/method"
	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/mem"
)

// sendOf is the set-up of a case on little memory.
func sendOf(t *testing.T, c txCase, packets int) *sendSetup {
	t.Helper()
	b := &txBench{Bench: &Bench{Machine: small(2)}, pages: map[int]*mem.Region{}}
	t.Cleanup(func() {
		if err := b.Close(); err != nil {
			t.Error(err)
		}
	})
	var err error
	if b.rings, err = b.region(4<<10, 1024+256); err != nil {
		t.Fatal(err)
	}
	s, err := b.setup(c)
	if err != nil {
		t.Fatal(err)
	}
	s.packets = packets
	return s
}

// sent runs a case and gives what it counted and the CRC of all that was on the
// wire.
func sent(t *testing.T, c txCase, packets int) (result.Values, uint32) {
	t.Helper()
	s := sendOf(t, c, packets)
	h, err := s.open(7)
	if err != nil {
		t.Fatalf("%s: %v", c.name(), err)
	}
	p := &method.Probe{Seed: 7, CPU: -1}
	h.lap(p, 256)
	before := h.read()
	h.lap(p, uint64(packets))
	after := h.read()
	v := after.since(&before)
	if err := h.settle(); err != nil {
		t.Errorf("%s: %v", c.name(), err)
	}
	crc := h.far().CRC
	if err := h.close(); err != nil {
		t.Errorf("%s: %v", c.name(), err)
	}
	return v, crc
}

// Every way in every mode puts the same bytes on the wire, loses nothing, gives
// everything back, and maps as often as it should.
func TestSendPath(t *testing.T) {
	maps := map[string][2]float64{ // at most, by way: of 67, of 1066 bytes
		wayMapped: {2, 2}, wayInline: {0, 2}, wayPremapped: {0, 0}, wayHeaders: {1, 1},
		wayKept:      {0, 0},
		wayLinearize: {1, 1}, wayAuto: {2, 2},
	}
	for k, load := range []txCase{
		request(1, 1, 50, 0, ""), request(200, 1000, 250, 0, ""), flood(300, 0, "", 512),
	} {
		var first uint32
		for _, mode := range txModes {
			for way, most := range maps {
				c := load
				c.iommu, c.way = mode, way
				if way == wayInline {
					c.copybreak = 512
				}
				v, crc := sent(t, c, 1000)
				if first == 0 {
					first = crc
				}
				if crc != first {
					t.Errorf("%s: other bytes on the wire", c.name())
				}
				n := v["maps_per_packet"]
				if want := most[k&1]; n > want || n != v["unmaps_per_packet"] ||
					way != wayAuto && n != want {
					t.Errorf("%s: %v maps and %v unmaps a packet, want %v", c.name(), n,
						v["unmaps_per_packet"], want)
				}
				if mode == dma.Passthrough && v["invalidations_per_packet"] != 0 {
					t.Errorf("%s: invalidations", c.name())
				}
			}
		}
	}
}

// A frame that is lost makes the measurement fail, as do those that do not
// come home.
func TestSendPathFails(t *testing.T) {
	s := sendOf(t, flood(64, dma.Strict, wayMapped, everything), 1000)
	h, err := s.open(7)
	if err != nil {
		t.Fatal(err)
	}
	p := &method.Probe{CPU: -1}
	h.lap(p, 256)
	h.dev.PlugOut(nil) // what is sent arrives nowhere
	h.turn()
	if err := h.settle(); err == nil || !strings.Contains(err.Error(), "taken") {
		t.Errorf("%v", err)
	}
	if err := h.close(); err != nil {
		t.Error(err)
	}
	if h, err = sendOf(t, request(1, 1, 50, dma.Strict, wayMapped), 0).open(7); err != nil {
		t.Fatal(err)
	}
	h.dev.PlugOut(nil)
	h.lap(p, 1000) // ends, although no answer arrives
	if err := h.settle(); !errors.Is(err, errStuck) {
		t.Errorf("%v", err)
	}
	if err := h.close(); err != nil {
		t.Error(err)
	}
}

// The timed loop allocates nothing.
func TestSendTurnAllocatesNothing(t *testing.T) {
	for _, c := range []txCase{
		request(200, 1000, 250, dma.Strict, wayMapped), flood(256, dma.Lazy, wayPremapped, 2048),
	} {
		h, err := sendOf(t, c, 0).open(7)
		if err != nil {
			t.Fatal(err)
		}
		p := &method.Probe{CPU: -1}
		h.lap(p, 4096)
		n := testing.AllocsPerRun(100, func() { p.Lap(h.turn()) })
		if n != 0 && !check.On {
			t.Errorf("%s: %v allocations a turn", c.name(), n)
		}
		if err := errors.Join(h.settle(), h.close()); err != nil {
			t.Error(err)
		}
	}
}
