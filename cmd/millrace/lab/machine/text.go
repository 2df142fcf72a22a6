package machine

import (
	"fmt"
	"strings"
)

// Lines describes the machine for people.
func (m *Machine) Lines() []string {
	pinned := "not pinned"
	if m.CPUPinned >= 0 {
		pinned = fmt.Sprintf("pinned to %d", m.CPUPinned)
	}
	return []string{
		fmt.Sprintf("%s, %d CPUs (%s), SMT %s, hypervisor %s", m.CPU, m.CPUs, pinned, m.SMT,
			m.Hypervisor),
		"caches: " + m.cacheText(),
		fmt.Sprintf("kernel %s, %s, governor %s, load %.2f, %s", m.Kernel, m.System, m.Governor,
			m.Load1, m.Go),
		"mitigations: " + m.Mitigations,
		"huge pages: " + m.HugePages,
		fmt.Sprintf("DRAM latency %.0f ns, copy %.1f GB/s (measured in this run, on %s); "+
			"TSC %.3f GHz", m.DRAMLatencyNs, m.CopyGBps, m.Backing, float64(m.TSCHz)/1e9),
	}
}

func (m *Machine) cacheText() string {
	var list []string
	for _, c := range m.Caches {
		list = append(list, fmt.Sprintf("L%d %s %s (CPUs %s)", c.Level, c.Type,
			Size(c.Bytes), c.Shared))
	}
	if list == nil {
		return Unknown
	}
	return strings.Join(list, ", ")
}

// Size writes a number of bytes with a binary prefix.
func Size(n int) string {
	switch {
	case n >= 1<<30:
		return fmt.Sprintf("%.1f GiB", float64(n)/(1<<30))
	case n >= 1<<20:
		return fmt.Sprintf("%.1f MiB", float64(n)/(1<<20))
	case n >= 1<<10:
		return fmt.Sprintf("%.0f KiB", float64(n)/(1<<10))
	}
	return fmt.Sprintf("%d B", n)
}

// Differences says what of the environment of two results is not alike, a line
// each. same reports whether both are of one machine, so that a difference of
// their figures can be the program's.
func Differences(a, b *Machine) (lines []string, same bool) {
	same = true
	for _, f := range []struct {
		name     string
		a, b     any
		hardware bool
	}{
		{"machine", a.ID, b.ID, true},
		{"CPU", a.CPU, b.CPU, true},
		{"CPUs", a.CPUs, b.CPUs, true},
		{"caches", a.cacheText(), b.cacheText(), true},
		{"system", a.System, b.System, true},
		{"memory", Size(a.MemoryBytes), Size(b.MemoryBytes), false},
		{"hypervisor", a.Hypervisor, b.Hypervisor, true},
		{"SMT", a.SMT, b.SMT, false},
		{"pinned to CPU", a.CPUPinned, b.CPUPinned, false},
		{"kernel", a.Kernel, b.Kernel, false},
		{"mitigations", a.Mitigations, b.Mitigations, false},
		{"governor", a.Governor, b.Governor, false},
		{"huge pages", a.HugePages, b.HugePages, false},
		{"backing of memory", a.Backing, b.Backing, false},
		{"Go", a.Go, b.Go, false},
		{"millrace", a.Millrace, b.Millrace, false},
	} {
		if f.a != f.b {
			lines = append(lines, fmt.Sprintf("%s: %v, %v", f.name, f.a, f.b))
			same = same && !f.hardware
		}
	}
	return append(lines, drift(a, b)...), same
}

// drift names measured conditions that are more than a tenth apart.
func drift(a, b *Machine) (lines []string) {
	for _, f := range []struct {
		name string
		a, b float64
	}{
		{"DRAM latency in ns", a.DRAMLatencyNs, b.DRAMLatencyNs},
		{"copy in GB/s", a.CopyGBps, b.CopyGBps},
	} {
		if f.a > 1.1*f.b || f.b > 1.1*f.a {
			lines = append(lines, fmt.Sprintf("%s: %.1f, %.1f", f.name, f.a, f.b))
		}
	}
	if a.Load1 > b.Load1+0.5 || b.Load1 > a.Load1+0.5 {
		lines = append(lines, fmt.Sprintf("load: %.2f, %.2f", a.Load1, b.Load1))
	}
	return lines
}
