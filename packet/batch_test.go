package packet

import (
	"bytes"
	"testing"
)

func TestBatch(t *testing.T) {
	s, r := newSlab(t, 8), openPages(t, 4096, 1)
	copy(r.Ref(0).Bytes(100, 10), "0123456789")
	b := NewBatch(s, 3)
	if b.Len() != 0 || b.Room() != 3 || b.Slab() != s {
		t.Fatalf("a new batch: %d packets, room for %d", b.Len(), b.Room())
	}
	var want [3]uint32
	for k := range want {
		i := s.Get()
		p := s.At(i)
		s.GetSmall(p)
		p.Linear, p.Drop = uint32(k+1), DropNone
		copy(p.Bytes(), "abc")
		sh := p.Shared()
		sh.NumFrags = uint32(k)
		for f := range k {
			sh.Frags[f] = Frag{r.Ref(0), uint32(100 + f), uint32(2 + f)}
		}
		b.Add(i)
		want[k] = i
	}
	for k, i := range want {
		if b.Index(k) != i || b.At(k) != s.At(i) || b.NumFrags(k) != k {
			t.Errorf("packet %d: index %d, %d fragments", k, b.Index(k), b.NumFrags(k))
		}
		if !bytes.Equal(b.Head(k), []byte("abc")[:k+1]) {
			t.Errorf("packet %d: head %q", k, b.Head(k))
		}
	}
	if got := b.Frag(2, 1); string(got) != "123" || cap(got) != 3 {
		t.Errorf("fragment %q with room for %d", got, cap(got))
	}
	b.Drop(1, DropFiltered)
	if b.At(0).Drop != DropNone || b.At(1).Drop != DropFiltered || b.Len() != 3 {
		t.Error("Drop marks one packet and takes none away")
	}
	for what, call := range map[string]func(){
		"Add without room":      func() { b.Add(want[0]) },
		"packet behind the end": func() { b.At(3) },
		"index before the start": func() {
			b.Index(-1)
		},
		"fragment behind the last": func() { b.Frag(2, 2) },
	} {
		if !panics(call) {
			t.Errorf("%s: no panic", what)
		}
	}
	if b.Reset(); b.Len() != 0 || b.Room() != 3 || !panics(func() { b.At(0) }) {
		t.Error("a batch that was reset still holds packets")
	}
}

func TestDropTexts(t *testing.T) {
	seen := map[string]bool{}
	for d := range NumDrops {
		text := d.String()
		if text == "" || text == "unknown" || seen[text] {
			t.Errorf("reason %d: %q", d, text)
		}
		seen[text] = true
	}
	for _, d := range []Drop{NumDrops, 255} {
		if d.String() != "unknown" {
			t.Errorf("reason %d: %q", d, d)
		}
	}
}
