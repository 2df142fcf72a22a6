//go:build linux

package testenv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Values of include/uapi/linux/ethtool.h.
const (
	featureSet  = 4 // ETH_SS_FEATURES
	featureName = 32
	maxFeatures = 512
	unsupported = 1 // ETHTOOL_F_UNSUPPORTED
)

// setFeature finds the bit of the feature by its name and sets it.
func setFeature(dev, feature string, on bool) error {
	names := make([]byte, 12+maxFeatures*featureName)
	binary.NativeEndian.PutUint32(names[0:], unix.ETHTOOL_GSTRINGS)
	binary.NativeEndian.PutUint32(names[4:], featureSet)
	if _, err := ethtool(dev, names); err != nil {
		return err
	}
	n := int(binary.NativeEndian.Uint32(names[8:]))
	bit := -1
	for i := range min(n, maxFeatures) {
		name := names[12+i*featureName:][:featureName]
		if string(bytes.TrimRight(name, "\x00")) == feature {
			bit = i
		}
	}
	if bit < 0 {
		return fmt.Errorf("the kernel knows %d features, not this one", n)
	}
	blocks := (n + 31) / 32
	set := make([]byte, 8+8*blocks) // per block: the bits that change, their values
	binary.NativeEndian.PutUint32(set[0:], unix.ETHTOOL_SFEATURES)
	binary.NativeEndian.PutUint32(set[4:], uint32(blocks))
	block := set[8+8*(bit/32):]
	binary.NativeEndian.PutUint32(block[0:], 1<<(bit%32))
	if on {
		binary.NativeEndian.PutUint32(block[4:], 1<<(bit%32))
	}
	res, err := ethtool(dev, set)
	if err == nil && res&unsupported != 0 {
		err = unix.EOPNOTSUPP
	}
	return err
}

// ethtool passes b to the SIOCETHTOOL ioctl of a device.
func ethtool(dev string, b []byte) (uintptr, error) {
	fd, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return 0, err
	}
	defer unix.Close(fd)
	// struct ifreq: the kernel reads the name and the pointer, and reads and
	// writes at most the bytes that the command in b announces; b stays alive
	// through the field that points to it.
	var req struct {
		name [unix.IFNAMSIZ]byte
		data unsafe.Pointer
		_    [16]byte
	}
	copy(req.name[:unix.IFNAMSIZ-1], dev)
	req.data = unsafe.Pointer(&b[0])
	res, _, errno := unix.Syscall(unix.SYS_IOCTL, uintptr(fd), unix.SIOCETHTOOL,
		uintptr(unsafe.Pointer(&req)))
	if errno != 0 {
		return 0, errno
	}
	return res, nil
}
