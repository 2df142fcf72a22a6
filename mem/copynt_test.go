package mem

import (
	"bytes"
	"testing"
	"unsafe"

	"github.com/millrace-net/millrace/internal/testenv"
)

// TestCopyNT copies at every alignment of both sides, between canaries.
func TestCopyNT(t *testing.T) {
	r := open(t, Config{Pages: 2})
	dst, src := r.Ref(0).Bytes(0, 4096), r.Ref(1).Bytes(0, 4096)
	rng := testenv.Rand(testenv.Seed(t), 0)
	for i := range src {
		src[i] = byte(rng.Uint32())
	}
	want := make([]byte, len(dst))
	lengths := []int{0, 1, 2, 15, 63, 64, 65, 127, 128, 129, 191, 192, 1024, 1514}
	for at := range 65 {
		for from := range 17 {
			for _, n := range lengths {
				for i := range dst {
					dst[i], want[i] = 0xa5, 0xa5
				}
				copy(want[at:at+n], src[from:])
				if got := CopyNT(dst[at:at+n], src[from:from+n]); got != n {
					t.Fatalf("copied %d bytes, want %d", got, n)
				}
				Fence()
				if !bytes.Equal(dst, want) {
					t.Fatalf("%d bytes from %d to %d: wrong", n, from, at)
				}
			}
		}
	}
}

// TestCopyNTUnequal copies the shorter of both lengths, as copy does.
func TestCopyNTUnequal(t *testing.T) {
	dst, src := bytes.Repeat([]byte{1}, 200), bytes.Repeat([]byte{2}, 300)
	for _, tt := range []struct{ dst, src int }{{200, 100}, {100, 300}, {0, 300}, {200, 0}} {
		d := bytes.Clone(dst)
		want := min(tt.dst, tt.src)
		if n := CopyNT(d[:tt.dst], src[:tt.src]); n != want {
			t.Errorf("%d to %d: copied %d, want %d", tt.src, tt.dst, n, want)
		}
		Fence()
		if bytes.Count(d, []byte{2}) != want {
			t.Errorf("%d to %d: %d bytes changed", tt.src, tt.dst, bytes.Count(d, []byte{2}))
		}
	}
	if n := CopyNT(nil, nil); n != 0 {
		t.Errorf("nothing to nothing copied %d", n)
	}
}

func FuzzCopyNT(f *testing.F) {
	f.Add([]byte("frame"), uint8(0), uint8(0))
	f.Add(bytes.Repeat([]byte{7}, 200), uint8(14), uint8(63))
	f.Fuzz(func(t *testing.T, src []byte, at, cut uint8) {
		whole := bytes.Repeat([]byte{0xa5}, int(at)+len(src)+64)
		want := bytes.Clone(whole)
		n := max(len(src)-int(cut), 0)
		copy(want[at:], src[:n])
		CopyNT(whole[at:int(at)+n], src)
		Fence()
		if !bytes.Equal(whole, want) {
			t.Errorf("%d bytes to %d: got %x, want %x", n, at, whole, want)
		}
	})
}

// TestPrefetchTakesAnyAddress: nothing, the last byte of a page, and a page
// that is no longer mapped.
func TestPrefetchTakesAnyAddress(t *testing.T) {
	r, err := Open(Config{Pages: 1})
	if err != nil {
		t.Fatal(err)
	}
	first, last := r.Ref(0).At(0, 1), r.Ref(0).At(4095, 1)
	Prefetch(nil, nil, nil, nil, nil, 0)
	Prefetch(first, last, unsafe.Pointer(r.Ref(0).Meta()), nil, last, 4096)
	if err := r.Close(); err != nil {
		t.Fatal(err)
	}
	Prefetch(first, last, first, last, first, 64)
}

func BenchmarkPrefetch(b *testing.B) {
	p := open(b, Config{Pages: 1}).Ref(0).At(0, 256)
	for b.Loop() {
		Prefetch(p, p, p, p, p, 64)
	}
}
