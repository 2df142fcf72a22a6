//go:build !purego

package checksum

import "github.com/millrace-net/millrace/internal/cpu"

// assembly names the routines that this processor can run.
func assembly() map[string]func([]byte) uint64 {
	if !cpu.AVX2 {
		return nil
	}
	return map[string]func([]byte) uint64{"avx2": sumAVX2}
}
