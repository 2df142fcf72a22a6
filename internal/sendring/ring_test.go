package sendring

import (
	"strings"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/internal/testenv"
)

// complete is the device: it writes completion number n.
func complete(r *Ring, n uint32, counter uint16, op desc.Opcode) {
	cq := r.SQ.CQ
	cq.At(n).Publish(desc.PackOwn(counter, op, desc.FormatPlain, cq.Lap(n)))
}

func ring(t *testing.T, blocks int) *Ring {
	t.Helper()
	r, err := New(blocks, 7)
	if err != nil {
		t.Fatal(err)
	}
	return &r
}

// post commits a WQE of n blocks and says where it begins.
func post(t *testing.T, r *Ring, n uint32) uint32 {
	t.Helper()
	if !r.Room(n) {
		t.Fatalf("no room for %d blocks, %d free", n, r.Free())
	}
	at := r.Producer()
	r.SQ.At(at).Control().Set(uint16(at), desc.SendFrame, 7, int(n)*desc.SegmentsPerBlock)
	r.Commit(n)
	return at
}

// taken counts what Next takes off.
func taken(r *Ring) (n int) {
	for _, ok := r.Next(); ok; _, ok = r.Next() {
		n++
	}
	return n
}

func TestNewRefuses(t *testing.T) {
	for _, c := range []struct {
		blocks, number int
		want           string
	}{
		{63, 0, "64 to 8192"}, {96, 0, "power of two"}, {16384, 0, "64 to 8192"},
		{-64, 0, "64 to 8192"}, {64, 1 << 24, "number of the send queue"},
	} {
		if _, err := New(c.blocks, c.number); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%d blocks, number %d: %v, want %q", c.blocks, c.number, err, c.want)
		}
	}
	if r, err := New(0, 0); err != nil || r.Blocks() != DefaultBlocks {
		t.Errorf("default: %d blocks, %v", r.Blocks(), err)
	}
}

// A WQE of n blocks at every offset lies in one fragment, behind NOPs that fill
// the one before (facts/mlx5e.md 1.1, 14).
func TestRoomAtEveryOffset(t *testing.T) {
	for n := uint32(1); n <= desc.MaxSendBlocks; n++ {
		for at := range uint32(desc.BlocksPerFragment) {
			r := ring(t, 256)
			for range at {
				post(t, r, 1)
			}
			begin := post(t, r, n)
			nops := uint32(0)
			if at+n > desc.BlocksPerFragment {
				nops = desc.BlocksPerFragment - at
			}
			if begin != at+nops || r.Stats().Nops != uint64(nops) ||
				begin/64 != (begin+n-1)/64 || r.Free() != 256-at-nops-n {
				t.Fatalf("%d blocks at %d: begins at %d, %d NOPs, %d free",
					n, at, begin, r.Stats().Nops, r.Free())
			}
			if got := len(r.Bytes()); got != int(64-r.Producer()%64)*64 {
				t.Fatalf("%d bytes to the end of the fragment of %d", got, r.Producer())
			}
		}
	}
}

// Never is a block given out that the device has: all sizes of the ring are
// filled, and an empty one is not taken for a full one.
func TestRoomEnds(t *testing.T) {
	r := ring(t, 64)
	for range 64 {
		post(t, r, 1)
	}
	if r.Room(1) || r.Free() != 0 {
		t.Error("a full ring has room")
	}
	r.Flush()
	complete(r, 0, 63, desc.OpReq)
	if !r.Poll(0, 0) || taken(r) != 64 || r.Free() != 64 {
		t.Errorf("one completion for 64 WQEs: %d free", r.Free())
	}
	post(t, r, 16) // at 64: 60 would need NOPs that are not there
	for range 44 {
		post(t, r, 1)
	}
	if r.Room(5) || r.Stats().Nops != 0 {
		t.Error("room for NOPs only, but it pads")
	}
}

// Commit may take more than Room was asked for, as far as Contiguous and Free
// go, also where the ring knows of less: no block is given out twice.
func TestCommitTakesMore(t *testing.T) {
	r := ring(t, 64)
	for range 60 {
		post(t, r, 1)
	}
	r.Flush()
	complete(r, 0, 59, desc.OpReq)
	r.Poll(0, 0)
	taken(r)
	for range 3 {
		post(t, r, 1) // at 60 to 62: one more is known to be free
	}
	if !r.Room(1) || r.Contiguous() != 1 {
		t.Fatal("no room")
	}
	r.Commit(1)
	if !r.Room(1) {
		t.Fatal("no room behind the end of the ring")
	}
	r.Commit(15)
	for n := range uint32(45) {
		if !r.Room(1) {
			t.Fatalf("no room, %d free", r.Free())
		}
		if r.Commit(1); r.Free() != 44-n {
			t.Fatalf("%d free, want %d", r.Free(), 44-n)
		}
	}
	if r.Room(1) || r.Room(16) {
		t.Error("a full ring has room")
	}
}

// Completions that name nothing the device was given break the ring, and only
// what they cannot have touched is done.
func TestPollDoubts(t *testing.T) {
	for name, lie := range map[string]struct {
		counters []uint16
		op       desc.Opcode
		done     int
	}{
		"not posted":   {[]uint16{9}, desc.OpReq, 0},
		"inside a WQE": {[]uint16{1}, desc.OpReq, 0},
		"long ago":     {[]uint16{0xffff}, desc.OpReq, 0},
		"not rung":     {[]uint16{4}, desc.OpReq, 0},
		"twice":        {[]uint16{0, 0}, desc.OpReq, 1},
		"opcode":       {[]uint16{0}, desc.OpRespSend, 0},
		"an error":     {[]uint16{2}, desc.OpReqErr, 1},
		"and its tail": {[]uint16{2, 3}, desc.OpReqErr, 1},
	} {
		r := ring(t, 64)
		post(t, r, 2) // 0
		post(t, r, 1) // 2
		post(t, r, 1) // 3
		r.Flush()
		post(t, r, 1) // 4: behind the doorbell
		for i, c := range lie.counters {
			complete(r, uint32(i), c, lie.op)
		}
		if r.Poll(0, 0) {
			t.Errorf("%s: believed", name)
		}
		if n := taken(r); n != lie.done {
			t.Errorf("%s: %d WQEs done, want %d", name, n, lie.done)
		}
		r.Stop()
		if n := taken(r); n != 4-lie.done {
			t.Errorf("%s: %d WQEs lost, want %d", name, n, 4-lie.done)
		}
		if r.Start(); r.Free() != 64 || r.Producer() != 0 || !r.Poll(0, 0) ||
			r.SQ.State() != desc.Ready || r.Stats().Recover != 1 {
			t.Errorf("%s: the ring does not start over: %+v", name, r.Stats())
		}
	}
}

// A device that owes a completion for longer than the limit breaks the ring;
// one that has nothing to do may rest, however rarely it is looked at.
func TestPollDeadline(t *testing.T) {
	const limit = 100
	r := ring(t, 64)
	r.Poll(0, limit)
	post(t, r, 1)
	if !r.Poll(1000, limit) {
		t.Error("nothing was rung")
	}
	r.Flush()
	for _, now := range []int64{5000, 5050, 5100} {
		if !r.Poll(now, limit) {
			t.Errorf("broken at %d, first seen waiting at 5000", now)
		}
	}
	post(t, r, 1)
	r.Flush()
	complete(r, 0, 0, desc.OpReq)
	if !r.Poll(5101, limit) || !r.Poll(5102, limit) || !r.Poll(5202, limit) {
		t.Error("broken, although the device went on at 5101")
	}
	if r.Poll(5203, limit) || r.Stats().Timeouts != 1 {
		t.Errorf("not broken at 5203: %+v", r.Stats())
	}
	if r.Poll(9999, limit) || r.Stats().Timeouts != 1 {
		t.Error("counted again")
	}
}

// Random WQEs, doorbells and completions: each WQE is taken off once, in order,
// at the slot where it was committed, while the counters wrap at 2^16.
func TestSimulation(t *testing.T) {
	seed := testenv.Seed(t)
	for i := range testenv.Seeds(20) {
		rng := testenv.Rand(seed+uint64(i), 0)
		r := ring(t, 64<<rng.IntN(3))
		var posted, rung []uint32
		var cqes uint32
		for r.Producer() < 1<<16+500 {
			switch n := 1 + uint32(rng.IntN(desc.MaxSendBlocks)); rng.IntN(4) {
			case 0, 1:
				if r.Room(n) {
					posted = append(posted, post(t, r, n))
				}
			case 2:
				r.Flush()
				rung = posted
			case 3:
				if len(rung) == 0 {
					continue
				}
				k := rng.IntN(len(rung))
				complete(r, cqes, uint16(rung[k]), desc.OpReq)
				cqes++
				if !r.Poll(0, 0) {
					t.Fatalf("SEED=%d: broken", seed+uint64(i))
				}
				for j := range k + 1 {
					if slot, ok := r.Next(); !ok || slot != r.Slot(rung[j]) {
						t.Fatalf("SEED=%d: slot %d, %v, want that of %d",
							seed+uint64(i), slot, ok, rung[j])
					}
				}
				if _, ok := r.Next(); ok {
					t.Fatalf("SEED=%d: taken off too early", seed+uint64(i))
				}
				posted, rung = posted[k+1:], rung[k+1:]
			}
		}
	}
}
