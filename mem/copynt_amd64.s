//go:build !purego

#include "textflag.h"

// func copyLines(dst, src []byte)
// Requires dst aligned to 64, len(dst) == len(src) a multiple of 64, not 0.
TEXT ·copyLines(SB), NOSPLIT, $0-48
	MOVQ dst_base+0(FP), DI
	MOVQ dst_len+8(FP), CX
	MOVQ src_base+24(FP), SI
	SHRQ $6, CX

loop:
	MOVOU  (SI), X0
	MOVOU  16(SI), X1
	MOVOU  32(SI), X2
	MOVOU  48(SI), X3
	MOVNTO X0, (DI)
	MOVNTO X1, 16(DI)
	MOVNTO X2, 32(DI)
	MOVNTO X3, 48(DI)
	ADDQ   $64, SI
	ADDQ   $64, DI
	DECQ   CX
	JNZ    loop
	RET

// func flush(p *byte)
TEXT ·flush(SB), NOSPLIT, $0-8
	MOVQ    p+0(FP), AX
	CLFLUSH (AX)
	RET

// func Fence()
TEXT ·Fence(SB), NOSPLIT, $0-0
	SFENCE
	RET
