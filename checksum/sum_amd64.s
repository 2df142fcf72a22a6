//go:build !purego

#include "textflag.h"

// 64 bytes of zeroes, then 64 of ones.
DATA masks<>+64(SB)/8, $-1
DATA masks<>+72(SB)/8, $-1
DATA masks<>+80(SB)/8, $-1
DATA masks<>+88(SB)/8, $-1
DATA masks<>+96(SB)/8, $-1
DATA masks<>+104(SB)/8, $-1
DATA masks<>+112(SB)/8, $-1
DATA masks<>+120(SB)/8, $-1
GLOBL masks<>(SB), RODATA|NOPTR, $128

// func sumAVX2(b []byte) uint64
// Requires len(b) >= 64, and AVX2. Reference: sumGeneric.
//
// Each 64-bit lane x is added twice: x itself, modulo 2^64, into Y0 and Y1,
// and its upper half into Y2 and Y3, which cannot overflow below 2^37 bytes.
// The sum of lower halves is then Y0 - Y2<<32, exactly; both halves weigh the
// same, because 2^32 = 1 modulo 0xffff.
TEXT ·sumAVX2(SB), NOSPLIT, $0-32
	MOVQ b_base+0(FP), SI
	MOVQ b_len+8(FP), DX

	// An odd last byte.
	MOVBLZX -1(SI)(DX*1), AX
	MOVQ    DX, CX
	ANDQ    $1, CX
	SUBQ    CX, DX
	NEGQ    CX
	ANDQ    CX, AX

	// The last 64 bytes in front of it, without those that the loop sums: no
	// branch depends on the length.
	LEAQ    masks<>(SB), DI
	MOVQ    DX, CX
	ANDQ    $62, CX
	ADDQ    CX, DI
	VMOVDQU -64(SI)(DX*1), Y0
	VMOVDQU -32(SI)(DX*1), Y1
	VPAND   (DI), Y0, Y0
	VPAND   32(DI), Y1, Y1
	VPSRLQ  $32, Y0, Y2
	VPSRLQ  $32, Y1, Y3
	SHRQ    $6, DX

loop:
	VMOVDQU (SI), Y4
	VMOVDQU 32(SI), Y5
	VPSRLQ  $32, Y4, Y6
	VPSRLQ  $32, Y5, Y7
	VPADDQ  Y4, Y0, Y0
	VPADDQ  Y5, Y1, Y1
	VPADDQ  Y6, Y2, Y2
	VPADDQ  Y7, Y3, Y3
	ADDQ    $64, SI
	DECQ    DX
	JNZ     loop

	VPADDQ       Y1, Y0, Y0
	VPADDQ       Y3, Y2, Y2
	VPSLLQ       $32, Y2, Y4
	VPSUBQ       Y4, Y0, Y0
	VPADDQ       Y2, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPADDQ       X1, X0, X0
	VPSHUFD      $0x4E, X0, X1
	VPADDQ       X1, X0, X0
	VMOVQ        X0, BX
	VZEROUPPER
	ADDQ         BX, AX
	MOVQ         AX, ret+24(FP)
	RET
