package machine

import (
	"encoding/binary"
	"reflect"
	"strings"
	"testing"
	"testing/fstest"
)

// linux is a small machine's /proc and /sys.
func linux() fstest.MapFS {
	const flaws = "sys/devices/system/cpu/vulnerabilities/"
	const thp = "sys/kernel/mm/"
	files := map[string]string{
		"proc/cpuinfo": "processor\t: 0\nmodel name\t: Test CPU 9000\n" +
			"flags\t\t: fpu tsc hypervisor avx2\n\nprocessor\t: 1\nmodel name\t: Other\n",
		"proc/meminfo":                                  "MemTotal: 24685000 kB\nMemFree: 1 kB\n",
		"proc/loadavg":                                  "0.42 0.50 0.60 1/100 4242\n",
		"proc/sys/kernel/osrelease":                     "6.18.44\n",
		"etc/machine-id":                                "0123456789abcdef\n",
		"sys/class/dmi/id/sys_vendor":                   "QEMU\n",
		"sys/devices/system/cpu/smt/control":            "notsupported\n",
		thp + "transparent_hugepage/enabled":            "always [madvise] never\n",
		thp + "hugepages/hugepages-2048kB/nr_hugepages": "0\n",
		flaws + "meltdown":                              "Not affected\n",
		flaws + "retbleed":                              "Mitigation: untrained return thunk; x\n",
		flaws + "spectre_v1":                            "Vulnerable\n",
	}
	for i, c := range []string{"1 Data 32K 0", "1 Instruction 64K 0", "2 Unified 512K 0",
		"3 Unified 8192K 0-1", "4 Unified ? 0-1"} {
		f := strings.Fields(c)
		dir := "sys/devices/system/cpu/cpu0/cache/index" + string(rune('0'+i)) + "/"
		files[dir+"level"], files[dir+"type"] = f[0], f[1]
		files[dir+"size"], files[dir+"shared_cpu_list"] = f[2], f[3]
	}
	fsys := fstest.MapFS{}
	for name, text := range files {
		fsys[name] = &fstest.MapFile{Data: []byte(text)}
	}
	return fsys
}

func TestDescribe(t *testing.T) {
	m := describe(linux(), 0)
	for name, x := range map[string]struct{ got, want any }{
		"cpu": {m.CPU, "Test CPU 9000"}, "llc": {m.LLCBytes, 8 << 20},
		"caches":     {len(m.Caches), 4},
		"last cache": {m.Caches[3], Cache{3, "unified", 8 << 20, "0-1"}},
		"memory":     {m.MemoryBytes, 24685000 << 10}, "hypervisor": {m.Hypervisor, "QEMU"},
		"kernel": {m.Kernel, "6.18.44"}, "governor": {m.Governor, Unknown}, "load": {m.Load1, 0.42},
		"mitigations": {m.Mitigations, "retbleed: untrained return thunk; spectre_v1: Vulnerable"},
		"huge pages":  {m.HugePages, "transparent: madvise; reserved 2 MiB pages: 0"},
		"pinned":      {m.CPUPinned, 0}, "id": {len(m.ID), 12}, "smt": {m.SMT, "notsupported"},
	} {
		if !reflect.DeepEqual(x.got, x.want) {
			t.Errorf("%s: %v, want %v", name, x.got, x.want)
		}
	}
	if strings.Contains(m.ID, "0123456789ab") {
		t.Error("the id tells the machine-id")
	}
}

// Another system tells nothing: every text is "unknown", and none is empty.
func TestDescribeNothing(t *testing.T) {
	m := describe(fstest.MapFS{}, -1)
	for _, text := range []string{m.ID, m.CPU, m.SMT, m.Hypervisor, m.Kernel, m.Mitigations,
		m.Governor} {
		if text != Unknown {
			t.Errorf("%q, want %q", text, Unknown)
		}
	}
	if m.LLCBytes != 0 || m.MemoryBytes != 0 || m.Caches != nil {
		t.Errorf("made up: %+v", m)
	}
	if text := strings.Join(m.Lines(), "\n"); !strings.Contains(text, "not pinned") {
		t.Error(text)
	}
}

func TestTieIsOneCycle(t *testing.T) {
	b := make([]byte, 100*line)
	tie(b)
	at, steps := uint32(0), 0
	for {
		at = binary.LittleEndian.Uint32(b[at:])
		if steps++; at == 0 || steps > 100 {
			break
		}
	}
	if steps != 100 {
		t.Errorf("the cycle has %d lines, want 100", steps)
	}
}

// The floor is a plausible one: a cache hit is faster, a second is longer.
func TestMeasureMemory(t *testing.T) {
	m := Machine{LLCBytes: 1 << 20}
	if err := m.MeasureMemory(); err != nil {
		t.Fatal(err)
	}
	if m.DRAMLatencyNs < 5 || m.DRAMLatencyNs > 10000 || m.CopyGBps < 0.1 || m.CopyGBps > 1000 {
		t.Errorf("%.1f ns, %.2f GB/s", m.DRAMLatencyNs, m.CopyGBps)
	}
	t.Logf("%.1f ns, %.2f GB/s on %s", m.DRAMLatencyNs, m.CopyGBps, m.Backing)
}

func TestDifferences(t *testing.T) {
	a := describe(linux(), 0)
	b := a
	if lines, same := Differences(&a, &b); len(lines) != 0 || !same {
		t.Errorf("a machine differs from itself: %v", lines)
	}
	b.Kernel, b.DRAMLatencyNs, b.Load1 = "6.19.0", 100, 3
	lines, same := Differences(&a, &b)
	if !same || len(lines) != 3 || !strings.HasPrefix(lines[0], "kernel: 6.18.44, 6.19.0") {
		t.Errorf("same %v: %q", same, lines)
	}
	b.CPU = "Another"
	if lines, same := Differences(&a, &b); same || !strings.HasPrefix(lines[0], "CPU: Test") {
		t.Errorf("same %v: %q", same, lines)
	}
}

func TestSize(t *testing.T) {
	for n, want := range map[int]string{64: "64 B", 32 << 10: "32 KiB", 8 << 20: "8.0 MiB",
		3 << 29: "1.5 GiB"} {
		if got := Size(n); got != want {
			t.Errorf("%d: %s, want %s", n, got, want)
		}
	}
}
