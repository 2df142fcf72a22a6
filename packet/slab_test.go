package packet

import (
	"bytes"
	"testing"

	"github.com/millrace-net/millrace/internal/check"
	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/mem"
)

func newSlab(t testing.TB, n int) *Slab {
	t.Helper()
	s, err := NewSlab(n, mem.Heap)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func TestSlabSizes(t *testing.T) {
	for _, n := range []int{-1, 0, 1<<24 + 1} {
		if s, err := NewSlab(n, mem.Heap); err == nil {
			t.Errorf("a slab of %d packets", n)
			s.Close()
		}
	}
	for _, n := range []int{1, 2, 1000} {
		s := newSlab(t, n)
		if s.Cap() != n || s.InUse() != 0 || s.HeadsInUse() != 0 {
			t.Errorf("%d packets: cap %d, %d and %d in use", n, s.Cap(), s.InUse(), s.HeadsInUse())
		}
	}
}

func TestSlabLastInFirstOut(t *testing.T) {
	s := newSlab(t, 4)
	a, b, c := s.Get(), s.Get(), s.Get()
	s.Free(b)
	s.Free(a)
	if got := [2]uint32{s.Get(), s.Get()}; got != [2]uint32{a, b} {
		t.Errorf("packets %v, want the last freed first: %v", got, [2]uint32{a, b})
	}
	var heads [3]mem.Ref
	for i := range heads {
		p := s.At([]uint32{a, b, c}[i])
		s.GetSmall(p)
		heads[i] = p.Head
	}
	s.Free(a)
	s.Free(c)
	p := s.At(s.Get())
	if s.GetSmall(p); p.Head != heads[2] {
		t.Errorf("head %#x, want the last freed, %#x", p.Head, heads[2])
	}
}

func TestSlabRunsEmpty(t *testing.T) {
	const n = 5
	s := newSlab(t, n)
	seen := map[uint32]bool{0: true}
	heads := map[mem.Ref]bool{}
	for range n {
		i := s.Get()
		if seen[i] {
			t.Fatalf("index %d a second time", i)
		}
		seen[i] = true
		if p := s.At(i); !s.GetSmall(p) || heads[p.Head] {
			t.Fatalf("head %#x a second time, or none", p.Head)
		}
		heads[s.At(i).Head] = true
	}
	var p Packet
	if i := s.Get(); i != 0 || s.GetSmall(&p) || p != (Packet{}) {
		t.Errorf("an empty slab gives packet %d and head %+v", i, p)
	}
	if s.InUse() != n || s.HeadsInUse() != n {
		t.Errorf("%d packets, %d heads in use, want %d", s.InUse(), s.HeadsInUse(), n)
	}
}

func TestSmallHead(t *testing.T) {
	s := newSlab(t, 2)
	i := s.Get()
	p := s.At(i)
	*p = Packet{}
	s.GetSmall(p)
	want := Packet{
		Head: p.Head, Data: 64, Room: 320, HeadKind: HeadSmall, Truesize: 640 + 128,
	}
	if *p != want {
		t.Errorf("small head %+v, want %+v", *p, want)
	}
	if len(p.Head.Bytes(p.Data, SmallBytes)) != SmallBytes || p.Data+SmallBytes > p.Room {
		t.Errorf("%d bytes do not fit behind %d in %d", SmallBytes, p.Data, p.Room)
	}
	p.Shared().NumFrags = 3
	if p.Linear = SmallBytes; len(p.Bytes()) != SmallBytes || p.Shared().NumFrags != 3 {
		t.Error("the frame and SharedInfo overlap")
	}
	head := p.Head
	s.Free(i)
	if s.InUse() != 0 || s.HeadsInUse() != 0 || p.HeadKind != headFree {
		t.Errorf("%d packets, %d heads in use, kind %d", s.InUse(), s.HeadsInUse(), p.HeadKind)
	}
	poison := bytes.Repeat([]byte{check.Poison}, headBytes)
	if check.On && !bytes.Equal(head.Bytes(0, headBytes), poison) {
		t.Error("a free head is not poisoned")
	}
}

// A head in a pool page is not the slab's: Free leaves it alone.
func TestFreeLeavesPages(t *testing.T) {
	s, r := newSlab(t, 1), openPages(t, 4096, 1)
	i := s.Get()
	*s.At(i) = Packet{Head: r.Ref(0), Room: 704, Data: 64, HeadKind: HeadPage}
	before := bytes.Clone(r.Ref(0).Bytes(0, 4096))
	s.Free(i)
	if s.HeadsInUse() != 0 || !bytes.Equal(before, r.Ref(0).Bytes(0, 4096)) {
		t.Errorf("%d heads in use; the page was touched", s.HeadsInUse())
	}
	if s.At(i).HeadKind != headFree {
		t.Error("a free packet still claims a head")
	}
}

func TestFreeSmallAlone(t *testing.T) {
	s := newSlab(t, 1)
	i := s.Get()
	p := s.At(i)
	s.GetSmall(p)
	s.FreeSmall(p.Head)
	p.HeadKind = HeadNone
	s.Free(i)
	if s.HeadsInUse() != 0 || s.InUse() != 0 {
		t.Errorf("%d packets, %d heads in use", s.InUse(), s.HeadsInUse())
	}
}

// Random use against a set: no packet and no head is ever with two users.
func TestSlabSimulation(t *testing.T) {
	seed := testenv.Seed(t)
	rng := testenv.Rand(seed, 0)
	const n = 50
	s := newSlab(t, n)
	var taken []uint32
	users, heads := map[uint32]bool{}, map[mem.Ref]bool{}
	for range 5000 {
		if rng.IntN(2) == 0 || len(taken) == 0 {
			i := s.Get()
			if (i == 0) != (len(taken) == n) || users[i] {
				t.Fatalf("packet %d with %d of %d in use, taken %v", i, len(taken), n, users[i])
			}
			if i == 0 {
				continue
			}
			taken, users[i] = append(taken, i), true
			if p := s.At(i); rng.IntN(2) == 0 {
				if !s.GetSmall(p) || heads[p.Head] {
					t.Fatalf("head %#x given twice, or none", p.Head)
				}
				heads[p.Head] = true
			}
		} else {
			k := rng.IntN(len(taken))
			i := taken[k]
			taken[k] = taken[len(taken)-1]
			taken = taken[:len(taken)-1]
			if p := s.At(i); p.HeadKind == HeadSmall {
				delete(heads, p.Head)
			}
			delete(users, i)
			s.Free(i)
		}
		if s.InUse() != len(taken) || s.HeadsInUse() != len(heads) {
			t.Fatalf("%d packets and %d heads in use, want %d and %d",
				s.InUse(), s.HeadsInUse(), len(taken), len(heads))
		}
	}
}

func TestSlabDoesNotAllocate(t *testing.T) {
	s := newSlab(t, 8)
	b := NewBatch(s, 8)
	allocs := testing.AllocsPerRun(100, func() {
		for b.Room() > 0 {
			i := s.Get()
			s.GetSmall(s.At(i))
			b.Add(i)
		}
		for i := range b.Len() {
			s.Free(b.Index(i))
		}
		b.Reset()
	})
	if allocs != 0 {
		t.Errorf("%v allocations", allocs)
	}
}

func BenchmarkGetFree(b *testing.B) {
	s := newSlab(b, 64)
	for b.Loop() {
		i := s.Get()
		s.GetSmall(s.At(i))
		s.Free(i)
	}
}

// Without -tags check a second Free is counted and changes nothing.
func TestFreeTwice(t *testing.T) {
	if check.On {
		t.Log("panics under -tags check, see slab_check_test.go")
		return
	}
	s := newSlab(t, 2)
	i := s.Get()
	s.Free(i)
	s.Free(i)
	if a, b := s.Get(), s.Get(); a == b || s.Get() != 0 || s.BadFrees() != 1 {
		t.Errorf("packets %d and %d, %d bad frees", a, b, s.BadFrees())
	}
}
