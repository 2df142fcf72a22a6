package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"testing"

	"github.com/millrace-net/millrace/cmd/millrace/capture"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/packet"
)

// eachCapture calls f for the name of every shared capture, with -short for
// one in eight.
func eachCapture(t *testing.T, f func(name string)) {
	t.Helper()
	files := 0
	err := filepath.WalkDir(testenv.Shared(t, "captures"),
		func(name string, d fs.DirEntry, err error) error {
			if err == nil && !d.IsDir() && filepath.Ext(name) != ".md" {
				if !testing.Short() || files%8 == 0 {
					f(name)
				}
				files++
			}
			return err
		})
	if err != nil || files < 1000 {
		t.Errorf("%d files, %v", files, err)
	}
}

// Whatever a capture holds, the books balance.
func TestBooksOfAllCaptures(t *testing.T) {
	eachCapture(t, func(name string) {
		o := &runOptions{from: "pcap:" + name, to: "null", queues: 1, stats: "json",
			set: []string{"rx=128"}} // a small ring is opened sooner
		var out bytes.Buffer
		err := run(o, &out)
		if damage := new(capture.Error); err != nil && !errors.As(err, &damage) {
			t.Errorf("%s: %v", name, err)
		}
		var report struct {
			Packets  int `json:"rx_packets"`
			Balanced bool
		}
		frames := countFrames(name)
		if frames < 0 {
			return // the head is damaged: nothing ran
		}
		if err := json.Unmarshal(out.Bytes(), &report); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if report.Packets != frames || !report.Balanced {
			t.Errorf("%s: %d of %d frames, balanced %v", name, report.Packets, frames,
				report.Balanced)
		}
	})
}

// countFrames counts what can be read; -1 says that the head cannot.
func countFrames(name string) (n int) {
	r, err := capture.Open(name)
	if err != nil {
		return -1
	}
	defer r.Close()
	var f capture.Frame
	for r.Next(&f) == nil {
		n++
	}
	return n
}

// Without GRO each frame comes out as it went in, with its link type, unless
// it is empty or too long.
func TestEveryFrameComesThrough(t *testing.T) {
	eachCapture(t, func(name string) {
		r, err := capture.Open(name)
		if err != nil {
			return
		}
		defer r.Close()
		next := func() (f capture.Frame, ok bool) {
			for ok = r.Next(&f) == nil; ok && (len(f.Data) == 0 || tooLong(&f)); {
				ok = r.Next(&f) == nil
			}
			return f, ok
		}
		deliver(t, name, func(link header.LinkType, have []byte) {
			want, ok := next()
			if !ok || link != want.Link || !bytes.Equal(have, want.Data) {
				t.Errorf("%s: frame %d, link %d:\nhave %x\nwant %x", name, want.Number,
					link, have, want.Data)
			}
		})
		if f, ok := next(); ok {
			t.Errorf("%s: frame %d did not come", name, f.Number)
		}
	})
}

// tooLong tells whether the receive queue drops the frame: its limit is for
// Ethernet with a VLAN tag, whatever the link type.
func tooLong(f *capture.Frame) bool {
	return len(f.Data) > captureMTU+header.EthernetBytes+header.VLANBytes
}

// deliver runs a capture without GRO and gives each packet to check.
func deliver(t *testing.T, name string, check func(header.LinkType, []byte)) {
	t.Helper()
	o := &runOptions{from: "pcap:" + name, to: "null", queues: 1, stats: "json",
		set: []string{"gro=off", "rx=128"}}
	if err := o.complete(); err != nil {
		t.Fatal(err)
	}
	s := &session{o: o, out: io.Discard}
	if err := s.open(); err != nil {
		t.Fatal(err)
	}
	var frame []byte
	var pieces [][]byte
	handle := func(b *packet.Batch) {
		for i := range b.Len() {
			frame = gather(frame[:0], b.Slab(), b.At(i), &pieces)
			check(b.At(i).Link, frame)
		}
	}
	if err := s.move(handle); err != nil {
		t.Error(err)
	}
	if err := errors.Join(s.port.Close(), s.to.close()); err != nil {
		t.Error(err)
	}
	s.from.close() // damage shows in the frames
}

// What is sent is what came, frame by frame: merged by GRO, cut again by the
// device or in software, tags taken out and put in. Flows may change places.
// The captures take turns in the settings.
func TestEveryFrameLeaves(t *testing.T) {
	out := filepath.Join(t.TempDir(), "out.pcapng")
	sets := [][]string{
		{"rx=128"},
		{"rx=128", "tso=off", "tx-udp-segmentation=off", "tx-checksumming=off",
			"tx-vlan-hw-insert=off", "rx-udp-gro-forwarding=on"},
		{"rx=128", "tx-copybreak=200", "tx-copybreak-way=inline", "rx-udp-gro-forwarding=on"},
	}
	turn := 0
	eachCapture(t, func(name string) {
		set := sets[turn%len(sets)]
		turn++
		o := &runOptions{from: "pcap:" + name, to: "nic:pcapng:" + out, queues: 1,
			stats: "json", set: set, iommu: "strict"}
		if err := run(o, io.Discard); errors.Is(err, errBooks) {
			t.Errorf("%s: %v", name, err)
		} else if err != nil {
			return // damaged
		}
		left := map[string]int{}
		frames(t, name, func(f *capture.Frame) {
			if f.Link == header.LinkEthernet && len(f.Data) >= header.EthernetBytes &&
				len(f.Data) <= captureMTU+header.EthernetBytes {
				left[string(f.Data)]++
			}
		})
		frames(t, out, func(f *capture.Frame) { left[string(f.Data)]-- })
		for data, n := range left {
			if n != 0 {
				t.Errorf("%s, %v: %d frames too few: %x", name, set, n, data)
				return
			}
		}
	})
}

// frames reads a capture.
func frames(t *testing.T, name string, each func(*capture.Frame)) {
	t.Helper()
	r, err := capture.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for f := (capture.Frame{}); r.Next(&f) == nil; {
		each(&f)
	}
}
