//go:build !amd64 || purego

package gso

func copySum(dst, src []byte) uint16 { return copySumGeneric(dst, src) }
