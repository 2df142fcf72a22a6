package capture

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"path/filepath"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
)

// record is a frame as a test writes it.
type record struct {
	sec, frac uint32
	capLen    uint32
	wire      uint32
	data      []byte
}

// pcapOf builds a pcap file.
func pcapOf(order binary.AppendByteOrder, magic, link uint32, records ...record) []byte {
	b := order.AppendUint32(nil, magic)
	b = order.AppendUint16(b, 2)
	b = order.AppendUint16(b, 4)
	for _, word := range []uint32{0, 0, 65535, link} {
		b = order.AppendUint32(b, word)
	}
	for _, r := range records {
		for _, word := range []uint32{r.sec, r.frac, r.capLen, r.wire} {
			b = order.AppendUint32(b, word)
		}
		b = append(b, r.data...)
	}
	return b
}

var three = []record{
	{sec: 1, frac: 5, capLen: 4, wire: 60, data: []byte{1, 2, 3, 4}},
	{sec: 2, frac: 6, capLen: 0, wire: 0},
	{sec: 3, frac: 7, capLen: 2, wire: 2, data: []byte{5, 6}},
}

// read returns the frames of a file and what ended it.
func read(t *testing.T, file []byte) (frames []Frame, err error) {
	t.Helper()
	r, err := newReader(bytes.NewReader(file))
	if err != nil {
		return nil, err
	}
	r.name = "test"
	for {
		var f Frame
		if err := r.Next(&f); err != nil {
			return frames, err
		}
		f.Data = bytes.Clone(f.Data)
		frames = append(frames, f)
	}
}

func TestPcapVariants(t *testing.T) {
	for _, c := range []struct {
		name  string
		order binary.AppendByteOrder
		magic uint32
		unit  int64 // ns
	}{
		{"little, microseconds", binary.LittleEndian, 0xA1B2C3D4, 1000},
		{"little, nanoseconds", binary.LittleEndian, 0xA1B23C4D, 1},
		{"big, microseconds", binary.BigEndian, 0xA1B2C3D4, 1000},
		{"big, nanoseconds", binary.BigEndian, 0xA1B23C4D, 1},
	} {
		frames, err := read(t, pcapOf(c.order, c.magic, 113, three...))
		if err != io.EOF || len(frames) != 3 {
			t.Fatalf("%s: %d frames, %v", c.name, len(frames), err)
		}
		f := frames[0]
		if f.Time != 1e9+5*c.unit || f.Length != 60 || !bytes.Equal(f.Data, []byte{1, 2, 3, 4}) {
			t.Errorf("%s: frame 1 is %+v", c.name, f)
		}
		if f.Link != header.LinkSLL || f.LinkNumber != 113 || frames[2].Number != 3 {
			t.Errorf("%s: link %d (%d), last number %d", c.name, f.Link, f.LinkNumber,
				frames[2].Number)
		}
	}
}

func TestGzip(t *testing.T) {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	z.Write(pcapOf(binary.LittleEndian, 0xA1B2C3D4, 1, three...))
	z.Close()
	if frames, err := read(t, b.Bytes()); err != io.EOF || len(frames) != 3 {
		t.Errorf("%d frames, %v", len(frames), err)
	}
	frames, err := read(t, b.Bytes()[:b.Len()-10])
	if _, damaged := errors.AsType[*Error](err); !damaged {
		t.Errorf("cut gzip: %d frames, %v", len(frames), err)
	}
}

// A file cut anywhere gives the frames before the cut, then names the next.
func TestCutFile(t *testing.T) {
	whole := pcapOf(binary.LittleEndian, 0xA1B2C3D4, 1, three...)
	ends := map[int]int{24: 0, 44: 1, 60: 2, 78: 3} // clean ends, frames before
	for n := range whole {
		frames, err := read(t, whole[:n])
		want, clean := ends[n]
		damage, damaged := errors.AsType[*Error](err)
		switch {
		case n < 24:
			if err == nil || len(frames) > 0 {
				t.Errorf("%d bytes: %d frames, %v", n, len(frames), err)
			}
		case clean:
			if err != io.EOF || len(frames) != want {
				t.Errorf("%d bytes: %d frames, %v", n, len(frames), err)
			}
		case !damaged || damage.Frame != len(frames)+1:
			t.Errorf("%d bytes: %d frames, %v", n, len(frames), err)
		}
	}
}

func TestMoreCapturedThanSent(t *testing.T) {
	records := append([]record{{capLen: 4, wire: 1, data: []byte{9, 8, 7, 6}}}, three...)
	frames, err := read(t, pcapOf(binary.LittleEndian, 0xA1B2C3D4, 1, records...))
	if err != io.EOF || len(frames) != 4 {
		t.Fatalf("%d frames, %v", len(frames), err)
	}
	if f := frames[0]; f.Length != 4 || !bytes.Equal(f.Data, []byte{9, 8, 7, 6}) {
		t.Errorf("frame 1 is %+v", f)
	}
}

func TestBadHeads(t *testing.T) {
	huge := record{capLen: 1 << 30, wire: 1 << 30}
	for _, c := range []struct {
		name string
		file []byte
		want string
	}{
		{"empty", nil, "0 bytes"},
		{"text", []byte("#!/bin/sh\necho hello, world\n"), "neither pcap nor pcapng"},
		{"reserved", pcapOf(binary.LittleEndian, 0xA1B2C3D4, 3<<20), "reserved bits"},
		{"unassigned", pcapOf(binary.LittleEndian, 0xA1B2C3D4, 4711), "link type 4711"},
		{"huge", pcapOf(binary.LittleEndian, 0xA1B2C3D4, 1, huge), "1073741824 bytes"},
	} {
		if _, err := read(t, c.file); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q in it", c.name, err, c.want)
		}
	}
}

// damaged are the captures that cannot be read to their end, with the frame
// that is named; 0: the head of the file.
var damaged = map[string]int{
	"gopacket__gopacket/pcapgo/tests/be/test901.pcapng":                      2,
	"gopacket__gopacket/pcapgo/tests/le/test901.pcapng":                      2,
	"the-tcpdump-group__libpcap/tests/linktype-reserved-field-not-zero.pcap": 0,
	"the-tcpdump-group__libpcap/tests/pcap-invalid-version-1.pcap":           0,
	"the-tcpdump-group__libpcap/tests/pcap-invalid-version-2.pcap":           0,
	"the-tcpdump-group__libpcap/tests/pcapng-invalid-vers-1.pcapng":          0,
	"the-tcpdump-group__libpcap/tests/pcapng-invalid-vers-2.pcapng":          0,
	"the-tcpdump-group__libpcap/tests/shb-option-too-long.pcapng":            0,
}

func TestAllCaptures(t *testing.T) {
	root := testenv.Shared(t, "captures")
	files := 0
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() || filepath.Ext(path) == ".md" {
			return err
		}
		name, err := filepath.Rel(root, path)
		files++
		readCapture(t, path, filepath.ToSlash(name))
		return err
	})
	if err != nil || files < 1000 {
		t.Errorf("%d files, %v", files, err)
	}
}

func readCapture(t *testing.T, path, name string) {
	t.Helper()
	frames := 0
	r, err := Open(path)
	if err == nil {
		defer r.Close()
		var f Frame
		for err = r.Next(&f); err == nil; err = r.Next(&f) {
			frames++
			if (f.Link == header.LinkEthernet) != (f.LinkNumber == 1) || f.Length < len(f.Data) {
				t.Errorf("%s: frame %d: link %d of %d, %d of %d bytes", name, frames,
					f.Link, f.LinkNumber, len(f.Data), f.Length)
			}
		}
	}
	want, isDamaged := damaged[name]
	if !isDamaged {
		if err != io.EOF {
			t.Errorf("%s: %d frames, then %v", name, frames, err)
		}
		return
	}
	damage, ok := errors.AsType[*Error](err)
	if !ok || damage.Frame != want || damage.File != path {
		t.Errorf("%s: %v, want damage of frame %d", name, err, want)
	}
}

// FuzzReader: no file makes the reader panic, and what it returns fits.
func FuzzReader(f *testing.F) {
	f.Add(pcapOf(binary.LittleEndian, 0xA1B2C3D4, 1, three...))
	f.Add(pcapOf(binary.BigEndian, 0xA1B23C4D, 276, three...))
	f.Add(ngOf(f))
	f.Fuzz(func(t *testing.T, file []byte) {
		if len(file) > 1<<16 {
			return
		}
		frames, err := read(t, file)
		if err == nil {
			t.Error("the file has no end")
		}
		for i, f := range frames {
			if f.Number != i+1 || f.Length < len(f.Data) || f.Link >= header.NumLinkTypes {
				t.Errorf("frame %d is %+v", i+1, f)
			}
		}
	})
}
