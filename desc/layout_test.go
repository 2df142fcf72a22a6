package desc

import (
	"strings"
	"testing"
	"time"
)

func newStriding(t testing.TB, cfg StridingConfig) *RQ {
	t.Helper()
	q, err := NewStridingRQ(cfg, newCQ(t, 4, CompressNone))
	if err != nil {
		t.Fatal(err)
	}
	return q
}

// MTU 1500 on 4 KiB pages: 8 WQEs of 128 strides of 2048 bytes, 64 pages and 8
// filler entries each (facts/mlx5e.md 1.7, 14).
func TestStridingLayout(t *testing.T) {
	q := newStriding(t, StridingConfig{
		LogStrideBytes: 11, LogStrides: 7, LogWQEs: 3, PageBytes: 4096, HeadRoom: 64,
	})
	if q.PagesPerWQE != 64 || q.MTTsPerWQE != 72 || len(q.MTT) != 8*72 {
		t.Fatalf("%d pages, %d entries a WQE, %d in all", q.PagesPerWQE, q.MTTsPerWQE, len(q.MTT))
	}
	// WQE 3: next 4; 256 KiB at 3*72 pages and the headroom.
	want := StridingWQE{3: 4, 17: 0x04, 22: 0x02, 29: 0x0d, 30: 0x80, 31: 0x40}
	if q.List[3] != want {
		t.Errorf("WQE 3 is\n% x, want\n% x", q.List[3], want)
	}
	if q.List[7].Next() != 0 {
		t.Errorf("the last WQE is followed by %d", q.List[7].Next())
	}
	// The UMR of WQE 3 begins at 108 octowords of two entries.
	if octo := q.WQEAddr(3) >> q.LogPageBytes * 8 / 16; octo != 108 {
		t.Errorf("translation of WQE 3 at %d octowords, want 108", octo)
	}
}

func TestMTTsPerWQE(t *testing.T) {
	for _, test := range []struct{ page, pages, mtts int }{
		{4096, 64, 72}, {16384, 16, 24}, {65536, 4, 8}, {1 << 19, 1, 8},
	} {
		q := newStriding(t, StridingConfig{
			LogStrideBytes: 8, LogStrides: 10, LogWQEs: 6, PageBytes: test.page,
		})
		if q.PagesPerWQE != test.pages || q.MTTsPerWQE != test.mtts {
			t.Errorf("%d B pages: %d pages, %d entries; want %d, %d",
				test.page, q.PagesPerWQE, q.MTTsPerWQE, test.pages, test.mtts)
		}
	}
}

func TestStridingErrors(t *testing.T) {
	good := StridingConfig{LogStrideBytes: 11, LogStrides: 7, LogWQEs: 3, PageBytes: 4096}
	for _, test := range []struct {
		change func(*StridingConfig)
		text   string
	}{
		{func(c *StridingConfig) { c.LogStrideBytes = 5 }, "LogStrideBytes is 5, want 6 to 13"},
		{func(c *StridingConfig) { c.LogStrideBytes = -1 }, "LogStrideBytes is -1, want 6 to 13"},
		{func(c *StridingConfig) { c.LogStrideBytes = 14 }, "LogStrideBytes is 14"},
		{func(c *StridingConfig) { c.LogStrides = 2 }, "LogStrides is 2, want 3 to 16"},
		{func(c *StridingConfig) { c.LogStrides = 8 }, "LogStrideBytes+LogStrides is 19"},
		{func(c *StridingConfig) { c.LogWQEs = 1 }, "LogWQEs is 1, want 2 to 13"},
		{func(c *StridingConfig) { c.PageBytes = 2048 }, "PageBytes is 2048"},
		{func(c *StridingConfig) { c.PageBytes = 12288 }, "PageBytes is 12288"},
		{func(c *StridingConfig) { c.HeadRoom = 2048 }, "HeadRoom is 2048, want 0 to 2047"},
		{func(c *StridingConfig) { c.LogWQEs = 11 }, "147456 translation entries, 72 for each " +
			"of 2048 WQEs, above the limit of 131064; use larger pages or fewer WQEs"},
	} {
		cfg := good
		test.change(&cfg)
		_, err := NewStridingRQ(cfg, newCQ(t, 4, CompressNone))
		if err == nil || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%+v: %v, want %q", cfg, err, test.text)
		}
	}
}

func TestCyclicLayout(t *testing.T) {
	q, err := NewCyclicRQ(CyclicConfig{LogWQEs: 4, SegsPerWQE: 4}, newCQ(t, 4, CompressNone))
	if err != nil {
		t.Fatal(err)
	}
	if len(q.Segments) != 64 {
		t.Fatalf("%d segments", len(q.Segments))
	}
	if want := (DataSegment{6: 0x01}); q.Segments[63] != want {
		t.Errorf("an unused segment is % x, want % x", q.Segments[63], want)
	}
	q.Segments[0].Set(StartPadding|2048, 0x200, 0x12345000)
	if s := &q.Segments[0]; s.ByteCount()&^StartPadding != 2048 || s.LKey() != 0x200 ||
		s.Addr() != 0x12345000 {
		t.Errorf("segment reads other than written: % x", *s)
	}
	for _, cfg := range []CyclicConfig{
		{LogWQEs: 0, SegsPerWQE: 1}, {LogWQEs: 14, SegsPerWQE: 1},
		{LogWQEs: 4, SegsPerWQE: 3}, {LogWQEs: 4, SegsPerWQE: 8}, {LogWQEs: 4},
	} {
		if _, err := NewCyclicRQ(cfg, newCQ(t, 4, CompressNone)); err == nil {
			t.Errorf("%+v: no error", cfg)
		}
	}
}

func TestModify(t *testing.T) {
	legal := map[[2]State]bool{{Reset, Ready}: true, {Ready, Error}: true, {Error, Reset}: true}
	for _, from := range []State{Reset, Ready, Error} {
		for _, to := range []State{Reset, Ready, Error} {
			q := &RQ{}
			q.state.Store(uint32(from))
			if got := q.Modify(from, to); got != legal[[2]State{from, to}] {
				t.Errorf("from %d to %d: %v", from, to, got)
			}
		}
	}
	q := &RQ{}
	if q.Modify(Ready, Error) || q.State() != Reset {
		t.Error("a queue in Reset went to Error")
	}
}

// A queue cannot be reset while the device is in it.
func TestResetWaitsForDevice(t *testing.T) {
	q := newStriding(t, StridingConfig{
		LogStrideBytes: 8, LogStrides: 4, LogWQEs: 2, PageBytes: 4096,
	})
	q.Modify(Reset, Ready)
	q.Modify(Ready, Error)
	q.Enter()
	done := make(chan bool)
	go func() { done <- q.Modify(Error, Reset) }()
	select {
	case <-done:
		t.Fatal("reset while the device was in the queue")
	case <-time.After(time.Millisecond):
	}
	q.Leave()
	if !<-done || q.Resets() != 1 || q.State() != Reset {
		t.Errorf("state %d after %d resets", q.State(), q.Resets())
	}
	q.List[1].SetNext(9)
	q.Producer.Ring(3)
	q.Reinit()
	if q.List[1].Next() != 2 || q.Producer.Load() != 0 {
		t.Error("Reinit left the list or the doorbell as it was")
	}
}
