package header

import (
	"bytes"
	"testing"
)

// A tag stands behind the addresses, and nothing else changes.
func TestInsertTag(t *testing.T) {
	frame := []byte("DDDDDDSSSSSS\x08\x00payload")
	b := make([]byte, VLANBytes+len(frame)+1)
	copy(b[VLANBytes:], frame)
	InsertTag(b[:len(b)-1], TypeQinQ, 0x2abc)
	want := []byte("DDDDDDSSSSSS\x88\xa8\x2a\xbc\x08\x00payload\x00")
	if !bytes.Equal(b, want) {
		t.Errorf("% x, want % x", b, want)
	}
	if tag := VLANAt(b, TagOffset+2); tag.TCI() != 0x2abc || tag.Type() != TypeIPv4 {
		t.Errorf("the tag reads as %#x, %#x", tag.TCI(), tag.Type())
	}
}

// Checksums lie where the views read them.
func TestChecksumOffsets(t *testing.T) {
	b := make([]byte, 20)
	for _, c := range []struct {
		at   int
		read func() uint16
	}{
		{IPv4Sum, func() uint16 { return IPv4At(b, 0).Checksum() }},
		{TCPSum, func() uint16 { return TCPAt(b, 0).Checksum() }},
		{UDPSum, func() uint16 { return UDPAt(b, 0).Checksum() }},
	} {
		clear(b)
		b[c.at], b[c.at+1] = 0x12, 0x34
		if c.read() != 0x1234 {
			t.Errorf("at %d: %#x", c.at, c.read())
		}
	}
}
