package gro

import (
	"encoding/binary"
	"reflect"
	"testing"

	"github.com/millrace-net/millrace/header"
)

// packFrames makes one string of frames, each behind its length.
func packFrames(frames ...[]byte) (b []byte) {
	for _, f := range frames {
		b = binary.BigEndian.AppendUint16(b, uint16(len(f)))
		b = append(b, f...)
	}
	return b
}

// cutFrames is the reverse of packFrames, for any string.
func cutFrames(b []byte) (frames [][]byte) {
	for len(b) >= 2 && len(frames) < 64 {
		n := min(int(binary.BigEndian.Uint16(b)), len(b)-2)
		frames = append(frames, b[2:2+n:2+n])
		b = b[2+n:]
	}
	return frames
}

// FuzzMerger: whatever comes, the laws hold, and the quick ways decide as the
// long way.
func FuzzMerger(f *testing.F) {
	for _, s := range sections {
		for _, c := range s.cases {
			if len(c.frames) <= 6 {
				f.Add(uint8(len(s.name)), packFrames(c.frames...))
			}
		}
	}
	f.Fuzz(func(t *testing.T, mode uint8, blob []byte) {
		frames := cutFrames(blob)
		c := Config{Buckets: 1 << (mode & 3), UDP: mode&4 != 0, Verified: mode&8 != 0,
			Link: header.LinkType(mode>>5) % header.NumLinkTypes}
		if mode&16 != 0 {
			c.VXLAN = []uint16{header.PortVXLAN}
		}
		out, verdicts := merge(t, c, frames...)
		checkLaws(t, c, frames, out)
		long, slow := mergeLong(t, c, frames)
		if !reflect.DeepEqual(out, long) || !reflect.DeepEqual(verdicts, slow) {
			t.Errorf("quick %s\n%v\nlong  %s\n%v", text(out), verdicts, text(long), slow)
		}
	})
}
