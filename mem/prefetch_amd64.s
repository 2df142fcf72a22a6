//go:build !purego

#include "textflag.h"

// func Prefetch(a, b, c, d, e unsafe.Pointer, step uintptr)
TEXT ·Prefetch(SB), NOSPLIT, $0-48
	MOVQ       a+0(FP), AX
	MOVQ       b+8(FP), BX
	MOVQ       c+16(FP), CX
	MOVQ       d+24(FP), DX
	MOVQ       e+32(FP), DI
	MOVQ       step+40(FP), SI
	PREFETCHT0 (AX)
	PREFETCHT0 (BX)
	PREFETCHT0 (CX)
	PREFETCHT0 (DX)
	PREFETCHT0 (DI)
	PREFETCHT0 (AX)(SI*1)
	PREFETCHT0 (BX)(SI*1)
	PREFETCHT0 (CX)(SI*1)
	RET
