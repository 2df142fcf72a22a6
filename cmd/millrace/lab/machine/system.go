package machine

import (
	"fmt"
	"io/fs"
	"path"
	"strconv"
	"strings"
)

// A system is the files in which Linux describes itself.
type system struct{ root fs.FS }

// read is the content of a file in one line, or Unknown.
func (s system) read(name string) string {
	b, err := fs.ReadFile(s.root, name)
	if text := strings.TrimSpace(string(b)); err == nil && text != "" {
		return text
	}
	return Unknown
}

func cpuDir(n int) string { return fmt.Sprintf("sys/devices/system/cpu/cpu%d", n) }

// cpuInfo is what /proc/cpuinfo says of the first CPU.
func (s system) cpuInfo() map[string]string { return s.fields("proc/cpuinfo") }

// fields reads lines of key: value up to the first empty one.
func (s system) fields(name string) map[string]string {
	m := map[string]string{}
	for line := range strings.Lines(s.read(name)) {
		key, value, ok := strings.Cut(line, ":")
		if !ok {
			break
		}
		m[strings.TrimSpace(key)] = strings.TrimSpace(value)
	}
	return m
}

// caches are those of one CPU, the smallest level first.
func (s system) caches(n int) (list []Cache) {
	dirs, _ := fs.Glob(s.root, cpuDir(n)+"/cache/index*") // none where there are none
	for _, dir := range dirs {
		level, err := strconv.Atoi(s.read(path.Join(dir, "level")))
		size, ok := kibibytes(s.read(path.Join(dir, "size")))
		if err != nil || !ok {
			continue
		}
		list = append(list, Cache{
			Level: level, Type: strings.ToLower(s.read(path.Join(dir, "type"))), Bytes: size,
			Shared: s.read(path.Join(dir, "shared_cpu_list")),
		})
	}
	return list
}

// kibibytes reads a size as sysfs writes it: 8192K.
func kibibytes(text string) (int, bool) {
	n, err := strconv.Atoi(strings.TrimSuffix(text, "K"))
	return n << 10, err == nil && strings.HasSuffix(text, "K")
}

// memory is the size of main memory in bytes, 0 where it is unknown.
func (s system) memory() int {
	var kib int
	if n, _ := fmt.Sscanf(s.fields("proc/meminfo")["MemTotal"], "%d kB", &kib); n != 1 {
		return 0
	}
	return kib << 10
}

// hypervisor names what the system runs on: "none" for a machine of its own.
func (s system) hypervisor(flags string) string {
	switch {
	case flags == "":
		return Unknown
	case !strings.Contains(" "+flags+" ", " hypervisor "):
		return "none"
	}
	if name := s.read("sys/class/dmi/id/sys_vendor"); name != Unknown {
		return name
	}
	return "yes, " + Unknown + " which"
}

// mitigations names the flaws of the processor against which the kernel does
// something that costs time, or nothing at all.
func (s system) mitigations() string {
	files, _ := fs.Glob(s.root, "sys/devices/system/cpu/vulnerabilities/*")
	var list []string
	for _, name := range files {
		text, _, _ := strings.Cut(s.read(name), ";")
		if strings.HasPrefix(text, "Not affected") {
			continue
		}
		text = strings.TrimPrefix(text, "Mitigation: ")
		list = append(list, path.Base(name)+": "+text)
	}
	switch {
	case len(files) == 0:
		return Unknown
	case len(list) == 0:
		return "none needed"
	}
	return strings.Join(list, "; ")
}

// hugePages says how large pages can be had.
func (s system) hugePages() string {
	mode := s.read("sys/kernel/mm/transparent_hugepage/enabled")
	if _, rest, ok := strings.Cut(mode, "["); ok {
		mode, _, _ = strings.Cut(rest, "]")
	}
	return fmt.Sprintf("transparent: %s; reserved 2 MiB pages: %s", mode,
		s.read("sys/kernel/mm/hugepages/hugepages-2048kB/nr_hugepages"))
}
