package machine

import (
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"

	"github.com/millrace-net/millrace/internal/cpu"
)

// Unknown is what the system does not tell.
const Unknown = "unknown"

// A Machine is what a result was measured on.
type Machine struct {
	ID          string  `json:"id"` // the same for all runs on one installation
	CPU         string  `json:"cpu"`
	CPUs        int     `json:"cpus"`
	CPUPinned   int     `json:"cpu_pinned"` // -1: the thread was free to move
	SMT         string  `json:"smt"`
	Caches      []Cache `json:"caches"`
	LLCBytes    int     `json:"llc_bytes"` // 0: unknown
	MemoryBytes int     `json:"memory_bytes"`
	Hypervisor  string  `json:"hypervisor"`
	System      string  `json:"system"`
	Kernel      string  `json:"kernel"`
	Mitigations string  `json:"mitigations"`
	Governor    string  `json:"governor"`
	HugePages   string  `json:"huge_pages"`
	Load1       float64 `json:"load_1_minute"`
	TSCHz       uint64  `json:"tsc_hz"`
	Go          string  `json:"go"`
	Millrace    string  `json:"millrace"`

	DRAMLatencyNs float64 `json:"dram_latency_ns"`
	CopyGBps      float64 `json:"copy_gb_per_s"` // bytes copied, 10^9
	Backing       string  `json:"memory_backing"`
}

// A Cache is one that the pinned CPU has.
type Cache struct {
	Level  int    `json:"level"`
	Type   string `json:"type"`
	Bytes  int    `json:"bytes"`
	Shared string `json:"shared_with_cpus"`
}

// Describe reads the environment. pinned is the CPU that the caller's thread
// is bound to, -1 for none.
func Describe(pinned int) Machine { return describe(os.DirFS("/"), pinned) }

// describe reads the environment of a file system like that of Linux.
func describe(root fs.FS, pinned int) Machine {
	s := system{root}
	info := s.cpuInfo()
	m := Machine{
		ID: s.id(), CPU: info["model name"], CPUs: runtime.NumCPU(), CPUPinned: pinned,
		SMT: s.read("sys/devices/system/cpu/smt/control"), Caches: s.caches(max(pinned, 0)),
		MemoryBytes: s.memory(), Hypervisor: s.hypervisor(info["flags"]),
		System: runtime.GOOS + "/" + runtime.GOARCH,
		Kernel: s.read("proc/sys/kernel/osrelease"), Mitigations: s.mitigations(),
		Governor:  s.read(cpuDir(max(pinned, 0)) + "/cpufreq/scaling_governor"),
		HugePages: s.hugePages(), TSCHz: cpu.PerSecond(), Go: runtime.Version(),
		Millrace: build(), Backing: Unknown,
	}
	if m.CPU == "" {
		m.CPU = Unknown
	}
	for _, c := range m.Caches {
		m.LLCBytes = max(m.LLCBytes, c.Bytes)
	}
	load, _, _ := strings.Cut(s.read("proc/loadavg"), " ")
	m.Load1, _ = strconv.ParseFloat(load, 64) // 0 where there is none
	return m
}

// build is the version or the commit of the program.
func build() string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return Unknown
	}
	v := info.Main.Version
	for _, s := range info.Settings {
		switch {
		case s.Key == "vcs.revision" && (v == "" || v == "(devel)"):
			v = s.Value[:min(12, len(s.Value))]
		case s.Key == "vcs.modified" && s.Value == "true" && !strings.Contains(v, "+dirty"):
			v += "-modified"
		}
	}
	if v == "" || v == "(devel)" {
		return "devel"
	}
	return v
}

// id is a name for this installation that tells nothing else about it.
func (s system) id() string {
	id := s.read("etc/machine-id")
	if id == Unknown {
		id = s.read("proc/sys/kernel/random/boot_id")
	}
	if id == Unknown {
		return Unknown
	}
	sum := sha256.Sum256([]byte("millrace lab " + id))
	return hex.EncodeToString(sum[:6])
}
