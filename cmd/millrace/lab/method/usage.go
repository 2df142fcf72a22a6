package method

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// A usage is what the system counted for the thread and its CPU.
type usage struct {
	switches int64 // involuntary
	stealMs  int64
}

// look reads the counts of the calling thread and of a CPU; -1 means all CPUs.
// What the system does not count is 0.
func look(cpuNumber int) usage {
	return usage{switches: involuntarySwitches(), stealMs: steal(readStat(), cpuNumber)}
}

func (u usage) since(before usage) usage {
	return usage{u.switches - before.switches, u.stealMs - before.stealMs}
}

func readStat() string {
	b, err := os.ReadFile("/proc/stat")
	if err != nil {
		return ""
	}
	return string(b)
}

// Columns of a CPU in /proc/stat: name, user, nice, system, idle, iowait, irq,
// softirq, steal; in units of 10 ms (USER_HZ is 100).
const (
	stealColumn = 8
	msPerTick   = 10
)

// steal is the time that the hypervisor gave the CPU to others.
func steal(stat string, cpuNumber int) int64 {
	f := columns(stat, cpuNumber)
	return f[stealColumn] * msPerTick
}

// columns are the numbers of a CPU; -1 means all CPUs. What is not there is 0.
func columns(stat string, cpuNumber int) (list [stealColumn + 1]int64) {
	name := "cpu"
	if cpuNumber >= 0 {
		name = fmt.Sprintf("cpu%d", cpuNumber)
	}
	for line := range strings.Lines(stat) {
		f := strings.Fields(line)
		if len(f) < len(list) || f[0] != name {
			continue
		}
		for i := 1; i < len(list); i++ {
			n, err := strconv.ParseInt(f[i], 10, 64)
			if err != nil {
				return [stealColumn + 1]int64{}
			}
			list[i] = n
		}
	}
	return list
}

// busy is the time that all CPUs worked for anybody, in ms.
func busy(stat string) (ms int64) {
	const idle, iowait = 4, 5
	for i, n := range columns(stat, -1) {
		if i != idle && i != iowait && i != stealColumn {
			ms += n * msPerTick
		}
	}
	return ms
}

// A Load measures what other processes do while the lab runs.
type Load struct {
	start     time.Time
	all, ours int64 // ms
}

// StartLoad begins a measurement.
func StartLoad() Load { return Load{time.Now(), busy(readStat()), processMs()} }

// CPUs is how many CPUs other processes kept busy on average. They share last
// cache and memory with a lab that has a CPU for itself.
func (l Load) CPUs() float64 {
	others := busy(readStat()) - l.all - (processMs() - l.ours)
	return max(0, float64(others)/float64(time.Since(l.start).Milliseconds()+1))
}
