//go:build !(amd64 || arm64) || purego

package cpu

import "time"

var start = time.Now()

// TSC reads the counter: here nanoseconds of the monotonic clock.
func TSC() uint64 { return uint64(time.Since(start)) }

func ticksPerSecond() uint64 { return uint64(time.Second) }
