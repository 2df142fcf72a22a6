//go:build check

package packet

import "testing"

// What -tags check must catch.
func TestSlabAssertions(t *testing.T) {
	s, other := newSlab(t, 4), newSlab(t, 4)
	a, b := s.Get(), s.Get()
	s.Get()
	s.Free(a)
	for what, call := range map[string]func(){
		"packet 0":                func() { s.Free(0) },
		"packet freed twice":      func() { s.Free(a) },
		"head of another slab":    func() { var p Packet; other.GetSmall(&p); s.FreeSmall(p.Head) },
		"head in a pool's page":   func() { s.FreeSmall(openPages(t, 4096, 1).Ref(0)) },
		"twice, with one between": func() { s.Free(b); s.Free(a) },
	} {
		if !panics(call) {
			t.Errorf("%s: no panic", what)
		}
	}
}
