//go:build !purego

#include "textflag.h"

// func Prefetch(a, b, c, d, e unsafe.Pointer, step uintptr)
TEXT ·Prefetch(SB), NOSPLIT, $0-48
	MOVD a+0(FP), R0
	MOVD b+8(FP), R1
	MOVD c+16(FP), R2
	MOVD d+24(FP), R3
	MOVD step+40(FP), R4
	MOVD e+32(FP), R5
	PRFM (R0), PLDL1KEEP
	PRFM (R1), PLDL1KEEP
	PRFM (R2), PLDL1KEEP
	PRFM (R3), PLDL1KEEP
	PRFM (R5), PLDL1KEEP
	ADD  R4, R0
	ADD  R4, R1
	ADD  R4, R2
	PRFM (R0), PLDL1KEEP
	PRFM (R1), PLDL1KEEP
	PRFM (R2), PLDL1KEEP
	RET
