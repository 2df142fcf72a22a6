package tx

import (
	"strings"
	"testing"

	"github.com/millrace-net/millrace/dma"
)

// The rule: the same times give the same choice, and never one that is slower
// than mapped.
func TestChoose(t *testing.T) {
	flat := func(n uint64) (c curve) {
		for i := range c {
			c[i] = n
		}
		return c
	}
	rising := func(from, by uint64, sizes int) (c curve) {
		for i := range sizes {
			c[i] = from + by*uint64(i)
		}
		return c
	}
	mapped := flat(1000)
	for _, c := range []struct {
		name                    string
		inline, copied, headers curve
		want                    Copybreak
	}{
		{"nothing pays", flat(1000), flat(960), flat(1000), Copybreak{}},
		{"inline up to 256", rising(600, 100, 8), flat(1100), flat(1100),
			Copybreak{Way: Inline, Bytes: 256}},
		{"premapped saves more", rising(600, 100, 8), rising(600, 50, 10), flat(1000),
			Copybreak{Way: Premapped, Bytes: 972}},
		{"headers alone", flat(1100), flat(1100), flat(700), Copybreak{Way: Premapped}},
		{"headers cost in long packets", rising(900, 0, 8), flat(500), flat(1030),
			Copybreak{Way: Premapped, Bytes: 2048}},
		{"headers cost", rising(940, 0, 2), rising(500, 0, 3), flat(1030), Copybreak{}},
		{"no 5 % in all", rising(940, 0, 3), flat(1100), flat(1100), Copybreak{}},
		{"a bump ends the threshold", curve{500, 500, 960, 500}, flat(1100), flat(1100),
			Copybreak{Way: Inline, Bytes: 128}},
		{"a small buffer", flat(1100), rising(300, 0, 4), flat(900),
			Copybreak{Way: Premapped, Bytes: 256}},
	} {
		costs := [numProbes]curve{mapped, c.inline, c.copied, c.headers}
		if got, _ := choose(&costs); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// Auto measures in the queue's own domain, chooses something it may, says what
// and why, and leaves nothing behind; it may be asked for again at any time.
func TestAuto(t *testing.T) {
	for _, d := range modes {
		for _, kept := range []bool{false, true} {
			r := newRig(t, Config{KeptMapped: kept, Copybreak: Copybreak{Auto: true}}, d)
			for range 2 {
				e := r.q.Effective()
				most, _ := r.q.copyMax(e.InForce.Way)
				if !e.Asked.Auto || e.InForce.Auto || e.InForce.Way == Linearize ||
					e.InForce.Bytes > most || !strings.HasPrefix(e.Why, "measured: ") {
					t.Errorf("%v: %+v", d.Mode, e)
				}
				t.Logf("%v, kept %v: %s", d.Mode, kept, e.Why)
				r.add(66, 100)
				r.post() // in flight while it is measured again
				if err := r.q.SetCopybreak(Copybreak{Auto: true}); err != nil {
					t.Error(err)
				}
				r.turn()
			}
			if s := r.q.Stats(); s.Posted != 2 || s.Done != 2 {
				t.Errorf("%v: what was measured is counted: %+v", d.Mode, s)
			}
			r.close()
		}
	}
}

// Where there is no memory to measure with, auto says so and changes nothing.
func TestAutoFails(t *testing.T) {
	r := newRig(t, Config{}, dma.Config{Mode: dma.Strict, AddressBytes: 300 << 10})
	before := r.q.Effective()
	err := r.q.SetCopybreak(Copybreak{Auto: true})
	if err == nil || !strings.Contains(err.Error(), "tx-copybreak auto") ||
		r.q.Effective() != before {
		t.Errorf("%v, %+v", err, r.q.Effective())
	}
	r.add(66, 100)
	r.turn()
}
