package desc

import (
	"encoding/hex"
	"strings"
	"testing"
	"unsafe"
)

// The arm word as facts/mlx5e.md 2.3 has it: sequence << 28 | 24 bits of the
// consumer counter, big-endian.
func TestArmWord(t *testing.T) {
	q := newCQ(t, 3, CompressNone)
	word := func() string {
		return hex.EncodeToString((*[4]byte)(unsafe.Pointer(&q.armed.word))[:])
	}
	if word() != "00000000" || !q.Fired() {
		t.Errorf("a new CQ holds %s, fired %v", word(), q.Fired())
	}
	for events, want := range []string{"10abcdef", "20abcdef", "30abcdef", "00abcdef", "10abcdef"} {
		if _, ok := q.Armed(); ok {
			t.Error("armed before Arm")
		}
		q.Arm(0xffabcdef)
		if word() != want {
			t.Errorf("behind %d events: %s, want %s", events, word(), want)
		}
		if seen, ok := q.Armed(); seen != 0xabcdef || !ok || q.Fired() {
			t.Errorf("behind %d events: armed at %#x, %v", events, seen, ok)
		}
		if q.Raise(); !q.Fired() || q.Events() != uint32(events+1) {
			t.Errorf("%d events, fired %v", q.Events(), q.Fired())
		}
	}
	q.Arm(0)
	if q.Reinit(); !q.Fired() || q.Events() != 5 {
		t.Error("armed behind Reinit, or events forgotten")
	}
}

func TestModeration(t *testing.T) {
	q := newCQ(t, 3, CompressNone)
	if got := q.Moderation(); got != (Moderation{Usecs: 16, Frames: 32}) {
		t.Errorf("a new CQ has %+v", got)
	}
	for _, m := range []Moderation{{}, {Usecs: 4095, Frames: 65535, FromCQE: true},
		{Usecs: 1}, {Frames: 1}, {FromCQE: true}} {
		if err := q.Moderate(m); err != nil || q.Moderation() != m {
			t.Errorf("%+v: %v, read back %+v", m, err, q.Moderation())
		}
	}
	for want, m := range map[string]Moderation{
		"Usecs of the moderation is 4096, want 0 to 4095":    {Usecs: 4096},
		"Usecs of the moderation is -1":                      {Usecs: -1},
		"Frames of the moderation is 65536, want 0 to 65535": {Frames: 65536},
	} {
		before := q.Moderation()
		err := q.Moderate(m)
		if err == nil || !strings.Contains(err.Error(), want) || q.Moderation() != before {
			t.Errorf("%+v: %v", m, err)
		}
	}
}
