//go:build !purego

#include "textflag.h"

// func Prefetch4(a, b, c, d unsafe.Pointer)
//
// The walk of the page table for an address that is not mapped is made anew
// each time and costs some 70 ns, so the stack stands in for nil.
TEXT ·Prefetch4(SB), NOSPLIT, $0-32
	MOVQ       a+0(FP), AX
	MOVQ       b+8(FP), BX
	MOVQ       c+16(FP), CX
	MOVQ       d+24(FP), DX
	TESTQ      AX, AX
	CMOVQEQ    SP, AX
	TESTQ      BX, BX
	CMOVQEQ    SP, BX
	TESTQ      CX, CX
	CMOVQEQ    SP, CX
	TESTQ      DX, DX
	CMOVQEQ    SP, DX
	PREFETCHT0 (AX)
	PREFETCHT0 (BX)
	PREFETCHT0 (CX)
	PREFETCHT0 (DX)
	RET
