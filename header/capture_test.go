package header

import (
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
)

// captureFrames is every Ethernet frame of the shared captures.
func captureFrames(t testing.TB) (frames [][]byte) {
	t.Helper()
	for _, path := range testenv.Captures(t) {
		records, err := testenv.ReadCapture(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			if r.Link == 1 && len(r.Data) > 0 {
				frames = append(frames, r.Data)
			}
		}
	}
	return frames
}

// Every frame of every capture, read as each link type: damaged and foreign
// ones included.
func TestLengthCaptures(t *testing.T) {
	for _, path := range testenv.Captures(t) {
		records, err := testenv.ReadCapture(path)
		if err != nil {
			t.Fatal(err)
		}
		for _, r := range records {
			for link := range NumLinkTypes {
				checkLength(t, link, r.Data)
			}
		}
	}
}
