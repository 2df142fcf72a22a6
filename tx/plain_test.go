package tx

import (
	"bytes"
	"testing"
)

func TestPlain(t *testing.T) {
	r := newRig(t, Config{Without: MultiPacket, Number: 9}, modes[3])
	want := [][]byte{r.add(60), r.add(14, 1000, 400), r.add(1514)}
	if r.post() != 3 {
		t.Error("not all taken")
	}
	r.turn()
	if len(r.dev.sent) != 3 {
		t.Fatalf("%d sent", len(r.dev.sent))
	}
	for i := range want {
		if !bytes.Equal(want[i], r.dev.sent[i]) {
			t.Errorf("frame %d differs", i)
		}
	}
}
