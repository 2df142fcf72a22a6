package workload

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/millrace-net/millrace/cmd/millrace/capture"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/nic"
)

// fileOf writes one frame of each LINKTYPE and opens the file.
func fileOf(t *testing.T, numbers ...uint16) *capture.Reader {
	t.Helper()
	name := filepath.Join(t.TempDir(), "x.pcapng")
	w, err := capture.Create(name, capture.PcapNg)
	if err != nil {
		t.Fatal(err)
	}
	for i, n := range numbers {
		err = errors.Join(err, w.Write(&capture.Frame{Data: []byte{byte(i)}, LinkNumber: n,
			Time: int64(i) + 1}))
	}
	if err := errors.Join(err, w.Commit()); err != nil {
		t.Fatal(err)
	}
	r, err := capture.Open(name)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func TestReplay(t *testing.T) {
	p := NewReplay(fileOf(t, 1, 113, 229), 0)
	var f nic.Frame
	for i, link := range []header.LinkType{header.LinkEthernet, header.LinkSLL, header.LinkRaw} {
		if !p.Next(0, &f) || f.Link != link || f.Data[0] != byte(i) ||
			f.Time != int64(i)+1 {
			t.Fatalf("frame %d: %+v", i, f)
		}
	}
	if p.Next(0, &f) || p.Err() != nil {
		t.Errorf("behind the last: %+v, %v", f, p.Err())
	}
}

func TestReplayCount(t *testing.T) {
	p := NewReplay(fileOf(t, 1, 1, 1), 2)
	var f nic.Frame
	n := 0
	for p.Next(0, &f) {
		n++
	}
	if n != 2 || p.Err() != nil {
		t.Errorf("%d frames, %v", n, p.Err())
	}
}

func TestReplayDamaged(t *testing.T) {
	p := NewReplay(fileOf(t, 1, 4711, 1), 0)
	var f nic.Frame
	n := 0
	for p.Next(0, &f) {
		n++
	}
	if n != 1 || p.Next(0, &f) {
		t.Errorf("%d frames before the damage, or more behind it", n)
	}
	if damage, ok := errors.AsType[*capture.Error](p.Err()); !ok || damage.Frame != 2 {
		t.Error(p.Err())
	}
}

// A link type keeps its number where all frames of it had the same.
func TestReplayNumbers(t *testing.T) {
	p := NewReplay(fileOf(t, 229, 108, 0, 105, 127), 0)
	check := func(link header.LinkType, want uint16, known bool) {
		t.Helper()
		if n, ok := p.NumberOf(link); n != want || ok != known {
			t.Errorf("link %d: %d, %v, want %d, %v", link, n, ok, want, known)
		}
	}
	var f nic.Frame
	p.Next(0, &f)
	check(header.LinkRaw, 229, true)
	check(header.LinkEthernet, 1, true)
	p.Next(0, &f)
	check(header.LinkNull, 108, true)
	p.Next(0, &f)
	check(header.LinkNull, 0, true) // readers take either byte order
	p.Next(0, &f)
	check(header.LinkOpaque, 105, true)
	p.Next(0, &f)
	check(header.LinkOpaque, 0, false)
}
