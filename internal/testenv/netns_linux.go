package testenv

import (
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"golang.org/x/sys/unix"
)

// NewNet gives the calling goroutine a network namespace of its own, without
// IPv6, and a /sys that shows it. The goroutine keeps its thread until it ends,
// and the namespace ends with it. Devices and sockets must be opened by this
// goroutine, not by a subtest; once open, any goroutine may use them.
func NewNet(t testing.TB) {
	t.Helper()
	NeedRoot(t)
	runtime.LockOSThread()
	if err := newNet(); err != nil {
		Unavailable(t, err.Error())
	}
}

func newNet() error {
	if err := unix.Unshare(unix.CLONE_NEWNET | unix.CLONE_NEWNS); err != nil {
		return fmt.Errorf("unshare network and mounts: %w", err)
	}
	if err := unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
		return fmt.Errorf("make mounts private: %w", err)
	}
	if err := unix.Mount("sysfs", "/sys", "sysfs", 0, ""); err != nil {
		return fmt.Errorf("mount the namespace's sysfs: %w", err)
	}
	const noIPv6 = "/proc/sys/net/ipv6/conf/default/disable_ipv6"
	err := os.WriteFile(noIPv6, []byte("1"), 0)
	if err != nil && !os.IsNotExist(err) { // absent: a kernel without IPv6
		return fmt.Errorf("disable IPv6: %w", err)
	}
	return nil
}

// SetSysfs writes an attribute of a device of this namespace.
func SetSysfs(t testing.TB, dev, attr, value string) {
	t.Helper()
	path := filepath.Join("/sys/class/net", dev, attr)
	if err := os.WriteFile(path, []byte(value), 0); err != nil {
		t.Fatalf("set %s: %v", path, err)
	}
}

// SetFeature switches a feature of a device, by its name in "ethtool -k" of
// the kernel ("rx-gro", "tx-tcp-segmentation", "rx-udp-gro-forwarding").
func SetFeature(t testing.TB, dev, feature string, on bool) {
	t.Helper()
	if err := setFeature(dev, feature, on); err != nil {
		t.Fatalf("set %s of %s: %v", feature, dev, err)
	}
}
