package gso

import (
	"bytes"
	"slices"
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
)

// Pieces may lie elsewhere for every segment; what they lay in before is not
// looked at again.
func TestMove(t *testing.T) {
	rnd := testenv.Rand(testenv.Seed(t), 0)
	for _, linear := range []int{0, 5} {
		st := named("ip4")
		want := st.segments(random(rnd, 3500), 1000, 7)
		g := st.gso(1000, timestamps)
		head, payload := merge(want, g, st.spoil)
		head = append(head, payload[:linear]...)
		pieces := shred(rnd, payload[linear:])
		var s Segmenter
		if err := s.Start(st.link, head, pieces, g); err != nil {
			t.Fatal(err)
		}
		for i, w := range want {
			moved := make([][]byte, len(pieces))
			for k, p := range pieces {
				moved[k] = slices.Clone(p)
				clear(p)
			}
			pieces = moved
			s.Move(pieces)
			b := make([]byte, s.Need())
			if s.Next(b); !bytes.Equal(b, w) {
				t.Fatalf("%d bytes in head: segment %d is\n%x, want\n%x", linear, i, b, w)
			}
		}
	}
}
