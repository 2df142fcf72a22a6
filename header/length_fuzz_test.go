package header

import (
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
)

// checkLength holds Length to what must be true of every frame.
func checkLength(t *testing.T, link LinkType, frame []byte) {
	t.Helper()
	n := Length(link, frame)
	if n < 0 || n > len(frame) {
		t.Fatalf("link %d: %d of %d bytes\n%x", link, n, len(frame), frame)
	}
	if len(frame) > maxOffset {
		return
	}
	if n < min(link.HeaderLen(), len(frame)) {
		t.Fatalf("link %d: %d ends in the link header\n%x", link, n, frame)
	}
	if all := length(link, frame); all != n {
		t.Fatalf("link %d: shortcut says %d, walk %d\n%x", link, n, all, frame)
	}
	// The headers alone have the same length, and less has no more.
	if alone := Length(link, frame[:n]); alone != n {
		t.Fatalf("link %d: %d bytes of headers, alone %d\n%x", link, n, alone, frame)
	}
	cut := frame[:n*3/4]
	if short := Length(link, cut); short > n {
		t.Fatalf("link %d: %d, cut to %d bytes: %d\n%x", link, n, len(cut), short, frame)
	}
}

func FuzzLength(f *testing.F) {
	for _, tt := range lengthCases {
		f.Add(byte(LinkEthernet), tt.frame)
	}
	for _, tt := range linkCases {
		f.Add(byte(tt.link), tt.frame)
	}
	f.Fuzz(func(t *testing.T, link byte, frame []byte) {
		// The end of the array is the end of the slice, so that the race
		// detector and bounds checks see a read behind it.
		checkLength(t, LinkType(link), frame[:len(frame):len(frame)])
	})
}

func TestLengthRandom(t *testing.T) {
	seed := testenv.Seed(t)
	for i := range uint64(20000) {
		s := source{Rand: testenv.Rand(seed, i)}
		frame := s.frame()
		for link := range NumLinkTypes + 1 {
			checkLength(t, link, frame)
		}
	}
}

// Every prefix of a frame has at most the headers of the whole, and the same
// once they are all there.
func TestLengthCut(t *testing.T) {
	for _, tt := range lengthCases {
		for n := range len(tt.frame) {
			got := Length(LinkEthernet, tt.frame[:n])
			if got > min(n, tt.want) || n >= tt.want+16 && got != tt.want {
				t.Errorf("%s cut to %d: %d, whole %d", tt.name, n, got, tt.want)
			}
		}
	}
}
