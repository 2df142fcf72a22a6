//go:build !purego

#include "textflag.h"

// func Prefetch4(a, b, c, d unsafe.Pointer)
//
// The walk of the page table for an address that is not mapped is made anew
// each time, so the stack stands in for nil.
TEXT ·Prefetch4(SB), NOSPLIT, $0-32
	MOVD a+0(FP), R0
	MOVD b+8(FP), R1
	MOVD c+16(FP), R2
	MOVD d+24(FP), R3
	MOVD RSP, R4
	CMP  $0, R0
	CSEL EQ, R4, R0, R0
	CMP  $0, R1
	CSEL EQ, R4, R1, R1
	CMP  $0, R2
	CSEL EQ, R4, R2, R2
	CMP  $0, R3
	CSEL EQ, R4, R3, R3
	PRFM (R0), PLDL1KEEP
	PRFM (R1), PLDL1KEEP
	PRFM (R2), PLDL1KEEP
	PRFM (R3), PLDL1KEEP
	RET
