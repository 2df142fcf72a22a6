package testenv_test

import (
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
)

// words writes a mix of 32-bit, 16-bit and raw parts in one byte order.
func words(o binary.AppendByteOrder, parts ...any) (b []byte) {
	for _, p := range parts {
		switch v := p.(type) {
		case int:
			b = o.AppendUint32(b, uint32(v))
		case uint16:
			b = o.AppendUint16(b, v)
		case string:
			b = append(b, v...)
		}
	}
	return b
}

func pcap(o binary.AppendByteOrder, magic int, extra string) []byte {
	b := words(o, magic, uint16(2), uint16(4), 0, 0, 65535, 113)
	b = append(b, words(o, 1, 2, 3, 60, extra, "abc")...)
	return append(b, words(o, 1, 3, 0, 5, extra)...)
}

func pcapng(o binary.AppendByteOrder) []byte {
	return slices.Concat(
		words(o, 0x0a0d0d0a, 28, 0x1a2b3c4d, uint16(1), uint16(0), -1, -1, 28),
		words(o, 1, 20, uint16(101), uint16(0), 4, 20), // snaplen 4
		words(o, 1, 20, uint16(113), uint16(0), 0, 20),
		words(o, 99, 16, "skip", 16),
		words(o, 6, 36, 1, 0, 0, 3, 60, "abc\x00", 36),
		words(o, 3, 20, 7, "defg", 20),
		words(o, 2, 36, uint16(1), uint16(0), 0, 0, 2, 9, "hi\x00\x00", 36),
	)
}

type want struct {
	data string
	link uint32
	orig int
}

func TestReadCapture(t *testing.T) {
	inPcap := []want{{"abc", 113, 60}, {"", 113, 5}}
	inNG := []want{{"abc", 113, 60}, {"defg", 101, 7}, {"hi", 113, 9}}
	le, be := binary.LittleEndian, binary.BigEndian
	tests := []struct {
		name string
		file []byte
		want []want
	}{
		{"pcap little", pcap(le, 0xa1b2c3d4, ""), inPcap},
		{"pcap big", pcap(be, 0xa1b2c3d4, ""), inPcap},
		{"pcap little ns", pcap(le, 0xa1b23c4d, ""), inPcap},
		{"pcap big ns", pcap(be, 0xa1b23c4d, ""), inPcap},
		{"pcap modified", pcap(le, 0xa1b2cd34, "12345678"), inPcap},
		{"pcapng little", pcapng(le), inNG},
		{"pcapng big", pcapng(be), inNG},
		{"two sections", append(pcapng(be), pcapng(le)...), append(inNG, inNG...)},
	}
	for _, tt := range tests {
		got, err := testenv.ReadCapture(write(t, tt.file))
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
		}
		compare(t, tt.name, got, tt.want)
	}
}

func TestReadCaptureDamaged(t *testing.T) {
	le := binary.LittleEndian
	one := []want{{"abc", 113, 60}}
	good := pcapng(le)[:28+20+20+16+36]
	tests := []struct {
		name string
		file []byte
		want []want
	}{
		{"empty", nil, nil},
		{"no magic", make([]byte, 24), nil},
		{"short record header", pcap(le, 0xa1b2c3d4, "")[:24+16+3+5], one},
		{"short record", pcap(le, 0xa1b2c3d4, "")[:24+16+2], nil},
		{"byte order magic", words(le, 0x0a0d0d0a, 28, 7, 0, 0, 0, 28), nil},
		{"short block", append(good[:len(good):len(good)], 6, 0, 0, 0), one},
		{"block length", append(good[:len(good):len(good)], words(le, 6, 13, 0)...), one},
		{"block too long", append(good[:len(good):len(good)], words(le, 6, 400, 0)...), one},
		{"no interface", append(good[:len(good):len(good)],
			words(le, 6, 32, 2, 0, 0, 0, 0, 32)...), one},
		{"caplen beyond block", append(good[:len(good):len(good)],
			words(le, 6, 32, 0, 0, 0, 1, 1, 32)...), one},
		{"empty packet block", append(good[:len(good):len(good)], words(le, 6, 12, 12)...), one},
	}
	for _, tt := range tests {
		got, err := testenv.ReadCapture(write(t, tt.file))
		if !errors.Is(err, testenv.ErrDamaged) {
			t.Errorf("%s: err %v, want damage", tt.name, err)
		}
		compare(t, tt.name, got, tt.want)
	}
}

func write(t *testing.T, b []byte) string {
	path := filepath.Join(t.TempDir(), "capture")
	if err := os.WriteFile(path, b, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func compare(t *testing.T, name string, got []testenv.Frame, frames []want) {
	t.Helper()
	if len(got) != len(frames) {
		t.Errorf("%s: %d frames, want %d", name, len(got), len(frames))
		return
	}
	for i, w := range frames {
		if g := (want{string(got[i].Data), got[i].Link, got[i].OrigLen}); g != w {
			t.Errorf("%s: frame %d is %v, want %v", name, i+1, g, w)
		}
	}
}

// Every shared capture is readable.
func TestReadCaptureShared(t *testing.T) {
	var frames int
	paths := testenv.Captures(t)
	for _, path := range paths {
		f, err := testenv.ReadCapture(path)
		if err != nil {
			t.Error(err)
		}
		frames += len(f)
	}
	t.Logf("%d files, %d frames", len(paths), frames)
	if len(paths) < 1000 || frames < 55000 {
		t.Error("fewer than expected")
	}
}
