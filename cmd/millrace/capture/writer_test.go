package capture

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/header"
)

var written = []Frame{
	{Data: []byte{1, 2, 3}, LinkNumber: 1, Length: 60, Time: 1700000000_000000001},
	{Data: []byte{0x45}, LinkNumber: 101, Length: 1, Time: 1700000000_000000002},
	{Data: []byte{}, LinkNumber: 1, Length: 0, Time: 1700000000_000000003},
	{Data: []byte{4, 5, 6, 7}, LinkNumber: 127, Length: 4, Time: 1},
}

// ngOf is a pcapng file with three interfaces.
func ngOf(t testing.TB) []byte {
	t.Helper()
	name := filepath.Join(t.TempDir(), "seed.pcapng")
	write(t, name, PcapNg, written)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func write(t testing.TB, name string, format Format, frames []Frame) {
	t.Helper()
	w, err := Create(name, format)
	if err != nil {
		t.Fatal(err)
	}
	for i := range frames {
		if err := w.Write(&frames[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Commit(); err != nil {
		t.Fatal(err)
	}
}

func TestNgRoundTrip(t *testing.T) {
	frames, err := read(t, ngOf(t))
	if err != io.EOF || len(frames) != len(written) {
		t.Fatalf("%d frames, %v", len(frames), err)
	}
	links := []header.LinkType{header.LinkEthernet, header.LinkRaw, header.LinkEthernet,
		header.LinkOpaque}
	for i, f := range frames {
		want := written[i]
		if !bytes.Equal(f.Data, want.Data) || f.LinkNumber != want.LinkNumber ||
			f.Length != want.Length || f.Time != want.Time || f.Link != links[i] {
			t.Errorf("frame %d is %+v, want %+v", i+1, f, want)
		}
	}
}

// The standard asks readers to take version 1.2 as 1.0.
func TestNgMinorVersion2(t *testing.T) {
	file := ngOf(t)
	file[14] = 2
	if frames, err := read(t, file); err != io.EOF || len(frames) != len(written) {
		t.Errorf("1.2: %d frames, %v", len(frames), err)
	}
	file[14] = 3
	if _, err := read(t, file); err == nil || !strings.Contains(err.Error(), "version") {
		t.Errorf("1.3: %v", err)
	}
}

func TestNgUnassignedLink(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x")
	write(t, name, PcapNg, append(written[:1:1], Frame{Data: []byte{1}, LinkNumber: 4711}))
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	frames, err := read(t, b)
	if len(frames) != 1 || !strings.Contains(err.Error(), "frame 2: link type 4711") {
		t.Errorf("%d frames, %v", len(frames), err)
	}
}

func TestPcapRoundTrip(t *testing.T) {
	name := filepath.Join(t.TempDir(), "x.pcap")
	one := []Frame{written[0], written[2]}
	write(t, name, Pcap, one)
	b, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	frames, err := read(t, b)
	if err != io.EOF || len(frames) != 2 || frames[0].Time != one[0].Time {
		t.Errorf("%+v, %v", frames, err)
	}
	w, err := Create(name, Pcap)
	if err != nil {
		t.Fatal(err)
	}
	defer w.Abort()
	first, second := w.Write(&written[0]), w.Write(&written[1])
	if first != nil || second == nil || !strings.Contains(second.Error(), "write pcapng") {
		t.Errorf("two link types: %v, %v", first, second)
	}
}

func TestFileWithoutFrames(t *testing.T) {
	for _, format := range []Format{Pcap, PcapNg} {
		name := filepath.Join(t.TempDir(), "x")
		write(t, name, format, nil)
		b, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if frames, err := read(t, b); err != io.EOF || len(frames) != 0 {
			t.Errorf("format %d: %d frames, %v", format, len(frames), err)
		}
	}
}

// The file appears whole, or not at all.
func TestWholeOrNotAtAll(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "x.pcapng")
	if err := os.WriteFile(name, []byte("before"), 0o600); err != nil {
		t.Fatal(err)
	}
	w, err := Create(name, PcapNg)
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(&written[0]); err != nil {
		t.Fatal(err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "before" {
		t.Errorf("half way: %q, %v", b, err)
	}
	if err := w.Abort(); err != nil {
		t.Error(err)
	}
	if b, err := os.ReadFile(name); err != nil || string(b) != "before" {
		t.Errorf("given up: %q, %v", b, err)
	}
	write(t, name, PcapNg, written)
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 1 {
		t.Errorf("left behind: %v, %v", entries, err)
	}
}

// A rename would replace a device or a link; both stay.
func TestOddTargets(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	if err := os.WriteFile(target, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(target, link); err != nil {
		t.Fatal(err)
	}
	write(t, link, PcapNg, written)
	if info, err := os.Lstat(link); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link became %v, %v", info.Mode(), err)
	}
	write(t, os.DevNull, PcapNg, written)
	if info, err := os.Stat(os.DevNull); err != nil || info.Mode().IsRegular() {
		t.Errorf("%s became %v, %v", os.DevNull, info.Mode(), err)
	}
	if _, err := Create(dir, PcapNg); err == nil {
		t.Error("a directory was taken for a file")
	}
}
