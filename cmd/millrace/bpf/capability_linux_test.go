package bpf

import (
	"errors"
	"runtime"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// Without privileges the error asks for them. The thread that gives its own
// away ends with this goroutine.
func TestWithoutPrivileges(t *testing.T) {
	needBPF(t)
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		var none [2]unix.CapUserData // version 3 has two
		header := unix.CapUserHeader{Version: unix.LINUX_CAPABILITY_VERSION_3}
		if err := unix.Capset(&header, &none[0]); err != nil {
			done <- err
			return
		}
		_, err := Open("testdata/drop_udp_port.bpf.o")
		done <- err
	}()
	err := <-done
	if !errors.Is(err, syscall.EPERM) || !strings.Contains(err.Error(), "CAP_BPF") {
		t.Errorf("%v, want the capabilities that are missing", err)
	}
}
