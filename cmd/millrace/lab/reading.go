package lab

import (
	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/internal/cpu"
)

// rates are what a lap says about the cost of packets.
func rates(r *reading) result.Values {
	n, ns := float64(r.frames), cpu.Nanoseconds(r.driver)
	return result.Values{
		"mpps":                  n / ns * 1e3,
		"ns_per_packet":         ns / n,
		"tsc_cycles_per_packet": float64(r.driver) / n,
		"device_ns_per_packet":  cpu.Nanoseconds(r.device) / n,
	}
}
