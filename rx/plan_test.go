package rx

import (
	"strings"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/mem"
)

// largest is the largest MTU for which ok holds, from 68 up.
func largest(t *testing.T, c Config, ok func(Plan) bool) int {
	t.Helper()
	last := 0
	for c.MTU = minMTU; c.MTU < 20000; c.MTU++ {
		p, err := c.Plan()
		if err != nil || !ok(p) {
			break
		}
		last = c.MTU
	}
	return last
}

// The limits of facts/mlx5e.md 3.1, pages of 4 KiB.
func TestLinearLimits(t *testing.T) {
	linear := func(p Plan) bool { return p.Linear }
	xdp := Memory{Headroom: 256}
	for _, c := range []struct {
		name string
		cfg  Config
		ok   func(Plan) bool
		want int
	}{
		{"linear", Config{}, linear, 3690},
		{"linear with XDP's headroom", Config{Memory: xdp}, linear, 3498},
		{"two XDP buffers a page", Config{Memory: xdp},
			func(p Plan) bool { return p.StrideBytes <= 2048 }, 1450},
		{"cyclic linear", Config{Type: Cyclic}, linear, 3690},
		{"cyclic with buffers of half a page", Config{Type: Cyclic},
			func(p Plan) bool { return p.Linear || p.Frags[1].Bytes <= 2048 }, 9834},
		{"cyclic at all", Config{Type: Cyclic}, func(Plan) bool { return true }, 15978},
		{"striding linear, 64 KiB pages", Config{Type: Striding, Memory: Memory{PageBytes: 65536}},
			linear, 7786},
	} {
		if got := largest(t, c.cfg, c.ok); got != c.want {
			t.Errorf("%s: MTU up to %d, want %d", c.name, got, c.want)
		}
	}
}

// The geometries of facts/mlx5e.md 3.1, 3.2, 3.9 and 14.
func TestPlan(t *testing.T) {
	type want struct {
		typ                                     desc.WQType
		linear                                  bool
		stride, strides, wqes, pages, mtts, cqe int
	}
	for _, c := range []struct {
		name string
		cfg  Config
		want want
	}{
		{"default", Config{},
			want{desc.Striding, true, 2048, 128, 8, 64, 72, 1024}},
		{"jumbo", Config{MTU: 9000},
			want{desc.Striding, false, 256, 1024, 64, 64, 72, 65536}},
		{"jumbo, 8192 frames", Config{MTU: 9000, Entries: 8192},
			want{desc.Striding, false, 256, 1024, 512, 64, 72, 1 << 19}},
		{"fewest WQEs", Config{Entries: 8},
			want{desc.Striding, true, 2048, 128, 4, 64, 72, 512}},
		{"LRO is never linear", Config{Offloads: Offloads{LRO: true}},
			want{desc.Striding, false, 256, 1024, 8, 64, 72, 8192}},
		{"smallest frames", Config{MTU: 144, Entries: 8192},
			want{desc.Striding, true, 1024, 256, 32, 64, 72, 8192}},
		{"16 KiB pages", Config{Memory: Memory{PageBytes: 16384}},
			want{desc.Striding, true, 2048, 128, 8, 16, 24, 1024}},
		{"64 KiB pages", Config{Memory: Memory{PageBytes: 65536}},
			want{desc.Striding, true, 2048, 128, 8, 4, 8, 1024}},
		{"jumbo on 16 KiB pages: only cyclic is linear",
			Config{MTU: 9000, Memory: Memory{PageBytes: 16384}},
			want{desc.Cyclic, true, 0, 0, 1024, 1, 0, 1024}},
	} {
		p, err := c.cfg.Plan()
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		got := want{p.Type, p.Linear, p.StrideBytes, p.Strides, p.WQEs, p.GroupPages,
			p.MTTsPerWQE, p.CQEntries}
		if got != c.want {
			t.Errorf("%s:\n got %+v\nwant %+v", c.name, got, c.want)
		}
	}
}

// Three segments are an odd number: two WQEs share three pages (facts/mlx5e.md
// 3.2), and refills are cut so that the pages of one fit the pool's batch.
func TestCyclicPlan(t *testing.T) {
	for _, c := range []struct {
		mtu, page        int
		frags            []Frag
		group, pages     int
		bulk, unit, ring int
	}{
		{mtu: 1500, page: 4096, frags: []Frag{{1522, 2048}},
			group: 2, pages: 1, bulk: 256, unit: 128, ring: 512},
		{mtu: 3600, page: 4096, frags: []Frag{{3622, 4096}},
			group: 1, pages: 1, bulk: 128, unit: 64, ring: 1024},
		{mtu: 3691, page: 4096, frags: []Frag{{1664, 2048}, {2048, 2048}, {1, 64}},
			group: 2, pages: 3, bulk: 64, unit: 32, ring: 1536},
		{mtu: 5700, page: 4096, frags: []Frag{{1664, 2048}, {2048, 2048}, {2010, 2048}},
			group: 2, pages: 3, bulk: 64, unit: 32, ring: 1536},
		{mtu: 9000, page: 4096,
			frags: []Frag{{1664, 2048}, {2048, 2048}, {2048, 2048}, {3262, 4096}},
			group: 1, pages: 3, bulk: 43, unit: 22, ring: 3072},
		{mtu: 9835, page: 4096, frags: []Frag{{3712, 4096}, {4096, 4096}, {2049, 4096}},
			group: 1, pages: 3, bulk: 43, unit: 22, ring: 3072},
		{mtu: 1500, page: 65536, frags: []Frag{{1522, 2048}},
			group: 32, pages: 1, bulk: 256, unit: 256, ring: 32},
	} {
		cfg := Config{Type: Cyclic, MTU: c.mtu, Memory: Memory{PageBytes: c.page}}
		p, err := cfg.Plan()
		if err != nil {
			t.Errorf("MTU %d: %v", c.mtu, err)
			continue
		}
		for k, f := range p.Frags[:p.NumFrags] {
			if k >= len(c.frags) || f != c.frags[k] {
				t.Errorf("MTU %d: segments %v, want %v", c.mtu, p.Frags[:p.NumFrags], c.frags)
				break
			}
		}
		if p.Group != c.group || p.GroupPages != c.pages || p.Bulk != c.bulk ||
			p.Unit != c.unit || p.Pages != c.ring {
			t.Errorf("MTU %d: group %d in %d pages, bulk %d, unit %d, %d pages; want %+v",
				c.mtu, p.Group, p.GroupPages, p.Bulk, p.Unit, p.Pages, c)
		}
	}
}

// A buffer of a cyclic queue lies in one page, two never overlap, and their
// SharedInfo is aligned: for every MTU and page size (facts/mlx5e.md 12, bug 8).
func TestCyclicPlacement(t *testing.T) {
	for _, page := range []int{4096, 16384, 65536} {
		for mtu := minMTU; mtu < 16000; mtu += 7 {
			c := Config{Type: Cyclic, MTU: mtu, Entries: 64, Memory: Memory{PageBytes: page}}
			p, err := c.Plan()
			if err != nil {
				break
			}
			end, last, k := 0, 0, 0
			p.place(func(pg, off int) {
				f := p.Frags[k%p.NumFrags]
				if pg == last && off < end || off+f.Stride > page || off%64 != 0 ||
					k%p.NumFrags == 0 && f.Stride%64 != 0 {
					t.Fatalf("MTU %d, pages of %d: segment %d at %d of page %d: %+v",
						mtu, page, k, off, pg, p)
				}
				last, end, k = pg, off+f.Stride, k+1
			})
			if p.Unit%p.Group != 0 || p.Bulk > p.WQEs || p.GroupPages < 1 {
				t.Fatalf("MTU %d, pages of %d: %+v", mtu, page, p)
			}
		}
	}
}

// Every refusal is one line that names the thing, the limit and the way out.
func TestRefusals(t *testing.T) {
	region, err := mem.Open(mem.Config{PageBytes: 16384, Pages: 8, Kind: mem.Heap})
	if err != nil {
		t.Fatal(err)
	}
	defer region.Close()
	for _, c := range []struct {
		cfg  Config
		want []string
	}{
		{Config{MTU: 67}, []string{"MTU is 67", "68 to 65517"}},
		{Config{MTU: 70000}, []string{"MTU is 70000", "68 to 65517"}},
		{Config{Entries: 1000}, []string{"Entries is 1000", "power of two, 8 to 8192"}},
		{Config{Entries: 16384}, []string{"Entries is 16384"}},
		{Config{Entries: 8192, MTU: 40000}, []string{"2048 WQEs", "131064", "halve Entries"}},
		{Config{Type: 9}, []string{"unknown Type 9"}},
		{Config{Queue: -1}, []string{"Queue is -1"}},
		{Config{Prefetch: Prefetch{Distance: 65}}, []string{"Prefetch.Distance is 65", "64"}},
		{Config{Type: Cyclic, Offloads: Offloads{LRO: true}},
			[]string{"LRO needs a striding queue", "turn LRO off"}},
		{Config{Offloads: Offloads{LRO: true}, Memory: Memory{Headroom: 256}},
			[]string{"LRO excludes XDP's headroom", "turn LRO off"}},
		{Config{Offloads: Offloads{Timestamps: true, Compression: desc.CompressBasic}},
			[]string{"compressed completions carry no Timestamps"}},
		{Config{Offloads: Offloads{Timestamps: true, Compression: desc.CompressEnhanced}},
			[]string{"compressed completions carry no Timestamps"}},
		{Config{MTU: 3499, Memory: Memory{Headroom: 256}},
			[]string{"Headroom 256 with MTU 3499", "lower the MTU to 3498"}},
		{Config{MTU: 15979, Type: Cyclic}, []string{"MTU 15979", "limit is 15978"}},
		{Config{Memory: Memory{PageBytes: 8192}}, []string{"PageBytes is 8192"}},
		{Config{Memory: Memory{Headroom: 32}}, []string{"Headroom is 32"}},
		{Config{Memory: Memory{Packets: -1}}, []string{"Packets is -1"}},
		{Config{Memory: Memory{Region: region, PageBytes: 4096}},
			[]string{"PageBytes is 4096", "Region have 16384"}},
		{Config{Memory: Memory{Region: region}}, []string{"8 pages are too few", "takes 17"}},
		{Config{Memory: Memory{Pages: 64}}, []string{"64 pages are too few", "raise Memory.Pages"}},
	} {
		refused(t, c.cfg, c.want)
	}
	if region.Free() != 8 {
		t.Errorf("%d pages free after refusals, want 8", region.Free())
	}
}

// refused says that no queue is made, for a reason in one line with all parts.
func refused(t *testing.T, cfg Config, want []string) {
	t.Helper()
	q, err := New(cfg, nil)
	if err == nil {
		q.Close()
		t.Errorf("%+v: accepted", cfg)
		return
	}
	for _, part := range want {
		if !strings.Contains(err.Error(), part) || strings.Contains(err.Error(), "\n") {
			t.Errorf("%v: does not say %q in one line", err, part)
		}
	}
}
