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

// Give takes what is not marked, in order, and leaves the rest, in order.
func TestBatchGive(t *testing.T) {
	s := newSlab(t, 8)
	from, to := NewBatch(s, 6), NewBatch(s, 6)
	to.Add(s.Get())
	s.At(to.Index(0)).Drop = DropNone
	for k := range 6 {
		i := s.Get()
		from.Add(i)
		s.At(i).Drop = DropNone
		if k%3 == 1 {
			from.Drop(k, DropFiltered)
		}
	}
	var kept, moved []uint32
	for k := range 6 {
		if k%3 == 1 {
			kept = append(kept, from.Index(k))
		} else {
			moved = append(moved, from.Index(k))
		}
	}
	from.Give(to)
	if from.Len() != 2 || from.Index(0) != kept[0] || from.Index(1) != kept[1] {
		t.Errorf("%d packets are left", from.Len())
	}
	for k, i := range moved {
		if to.Index(k+1) != i {
			t.Errorf("place %d: packet %d, want %d", k+1, to.Index(k+1), i)
		}
	}
	if from.Give(to); from.Len() != 2 || to.Len() != 5 {
		t.Error("marked packets were moved")
	}
}

func TestRemoveFront(t *testing.T) {
	s := newSlab(t, 5)
	for n := range 6 {
		b := NewBatch(s, 5)
		for i := range uint32(5) {
			b.Add(i + 1)
		}
		b.RemoveFront(n)
		if b.Len() != 5-n || b.Room() != n {
			t.Errorf("%d of 5 removed: %d left, room for %d", n, b.Len(), b.Room())
		}
		for k := range b.Len() {
			if got := b.Index(k); got != uint32(n+k+1) {
				t.Errorf("%d of 5 removed: packet %d at %d", n, got, k)
			}
		}
	}
	if b := NewBatch(s, 5); !panics(func() { b.RemoveFront(1) }) {
		t.Error("more was removed than there is")
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
