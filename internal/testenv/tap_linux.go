package testenv

import (
	"testing"

	"golang.org/x/sys/unix"
)

// A TAP is a device whose other end is this test.
type TAP struct {
	Name string
	fd   int
}

// OpenTAP makes a TAP device in this namespace. Flags are added to IFF_TAP and
// IFF_NO_PI: IFF_NAPI makes the kernel run GRO on what is written,
// IFF_VNET_HDR puts a 10-byte virtio-net header in front of each frame.
func OpenTAP(t testing.TB, name string, flags uint16) *TAP {
	t.Helper()
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_NONBLOCK|unix.O_CLOEXEC, 0)
	if err != nil {
		Unavailable(t, "open /dev/net/tun: "+err.Error())
	}
	t.Cleanup(func() { unix.Close(fd) })
	req, err := unix.NewIfreq(name)
	if err != nil {
		t.Fatalf("TAP %q: %v", name, err)
	}
	req.SetUint16(unix.IFF_TAP | unix.IFF_NO_PI | flags)
	if err = unix.IoctlIfreq(fd, unix.TUNSETIFF, req); err != nil {
		Unavailable(t, "make TAP "+name+": "+err.Error())
	}
	return &TAP{Name: name, fd: fd}
}

// Write hands the kernel a frame as received by the device. Without IFF_NAPI
// the kernel has handled it when Write returns.
func (d *TAP) Write(frame []byte) error {
	_, err := unix.Write(d.fd, frame)
	return err
}

// Read copies the next frame that the kernel sent, waiting for it at most ms
// milliseconds; nil when there is none.
func (d *TAP) Read(ms int) ([]byte, error) {
	if !ready(d.fd, ms) {
		return nil, nil
	}
	b := make([]byte, maxPacket)
	n, err := unix.Read(d.fd, b)
	if err == unix.EAGAIN {
		return nil, nil
	}
	return b[:max(n, 0)], err
}

// ready waits until fd has something to read.
func ready(fd, ms int) bool {
	for {
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, ms)
		if err != unix.EINTR {
			return n > 0
		}
	}
}
