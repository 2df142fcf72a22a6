package gro

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
)

// TestKernelAgrees feeds random sequences to the running kernel and to a Merger
// with the kernel's one bucket. What comes out must be equal as a multiset,
// unless a packet would have overtaken a held one of its flow, which is the one
// thing the Merger does differently.
func TestKernelAgrees(t *testing.T) {
	testenv.NeedRoot(t)
	const limit = 1600 * time.Millisecond
	t.Run("tcp", func(t *testing.T) {
		testenv.NewNet(t)
		d := differential{testenv.OpenKernelGRO(t), Config{Buckets: 1}}
		d.run(t, limit)
	})
	t.Run("udp", func(t *testing.T) {
		testenv.NewNet(t)
		k := testenv.OpenKernelGRO(t, "rx-udp-gro-forwarding")
		differential{k, Config{Buckets: 1, UDP: true}}.run(t, limit)
	})
	t.Run("vxlan", func(t *testing.T) {
		testenv.NewNet(t)
		k := testenv.OpenKernelGRO(t)
		testenv.AddVXLAN(t, "vx0", 7, header.PortVXLAN)
		testenv.UpLink(t, "vx0", 1400, nil)
		c := Config{Buckets: 1, VXLAN: []uint16{header.PortVXLAN}}
		differential{k, c}.run(t, limit)
	})
}

// A differential compares a Merger with the kernel.
type differential struct {
	kernel *testenv.KernelGRO
	config Config
}

func (d differential) run(t *testing.T, limit time.Duration) {
	seed := testenv.Seed(t)
	end := time.Now().Add(limit)
	compared, ordered := 0, 0
	for k := 0; time.Now().Before(end); k++ {
		frames := d.frames(testenv.Rand(seed, uint64(k)))
		switch same, why := d.compare(t, frames); {
		case why == testenv.ErrDisturbed.Error():
		case why != "":
			ordered++
		case !same:
			t.Fatalf("case %d", k)
		default:
			compared++
		}
	}
	t.Logf("%d sequences equal, %d not compared: the ordering rule", compared, ordered)
	if compared == 0 {
		testenv.Unavailable(t, "the kernel answered no sequence undisturbed")
	}
}

func (d differential) frames(r *rand.Rand) [][]byte {
	frames := sequence(r, 3, 6, d.config.UDP)
	switch {
	case d.config.VXLAN != nil:
		return inTunnels(r, frames, tunnelVXLAN, false)
	case r.IntN(4) == 0:
		return inTunnels(r, frames, r.IntN(tunnelVXLAN), r.IntN(3) == 0)
	}
	return frames
}

// compare asks up to five times: a softirq that ran in between can split a
// window. why says why the answers are not to be compared.
func (d differential) compare(t *testing.T, frames [][]byte) (same bool, why string) {
	m, err := NewMerger(d.config)
	if err != nil {
		t.Fatal(err)
	}
	var verdicts []Verdict
	for _, f := range frames {
		verdicts = append(verdicts, m.Add(f))
	}
	ours := describe(collect(m))
	if m.Stats().Ordered > 0 {
		return false, "a packet would have overtaken"
	}
	var kernels []string
	for range 5 {
		out, err := d.kernel.Run(frames)
		if err != nil {
			return false, err.Error()
		}
		if kernels = describe(kernelOutcomes(out)); slices.Equal(ours, kernels) {
			return true, ""
		}
	}
	t.Errorf("ours:   %s\nkernel: %s\n%v", short(ours), short(kernels), verdicts)
	for _, f := range frames {
		t.Logf("% x", f)
	}
	return false, ""
}

// describe makes outcomes comparable as a multiset.
func describe(out []outcome) (lines []string) {
	for _, o := range out {
		lines = append(lines, o.String()+string(o.data))
	}
	slices.Sort(lines)
	return lines
}

func short(lines []string) string {
	var b strings.Builder
	for _, l := range lines {
		head, _, _ := strings.Cut(l, "]")
		b.WriteString(head + "] ")
	}
	return b.String()
}

func kernelOutcomes(packets []testenv.Packet) (out []outcome) {
	for _, p := range packets {
		v := func(at int) int { return int(binary.NativeEndian.Uint16(p.VNet[at:])) }
		out = append(out, outcome{data: bytes.Clone(p.Data), flags: int(p.VNet[0]),
			kind: int(p.VNet[1]), size: v(4), csumStart: v(6), csumOffset: v(8)})
	}
	return out
}
