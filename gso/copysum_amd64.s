//go:build !purego

#include "textflag.h"

// 32 bytes of ones, 64 of zeroes, 64 of ones.
DATA masks<>+0(SB)/8, $-1
DATA masks<>+8(SB)/8, $-1
DATA masks<>+16(SB)/8, $-1
DATA masks<>+24(SB)/8, $-1
DATA masks<>+96(SB)/8, $-1
DATA masks<>+104(SB)/8, $-1
DATA masks<>+112(SB)/8, $-1
DATA masks<>+120(SB)/8, $-1
DATA masks<>+128(SB)/8, $-1
DATA masks<>+136(SB)/8, $-1
DATA masks<>+144(SB)/8, $-1
DATA masks<>+152(SB)/8, $-1
GLOBL masks<>(SB), RODATA|NOPTR, $160

// func copySumAVX2(dst, src []byte) uint64
// Requires len(dst) = len(src), 128 to 1<<20, no overlap, and AVX2.
// Reference: copySumGeneric.
//
// The loop stores 64 bytes at aligned addresses. What is in front of them and
// behind is copied by unaligned stores that overlap with the loop's, and
// masked so that nothing is summed twice: no branch depends on the length.
// Words are summed in pairs by VPMADDWD with ones. It takes them as signed, so
// 0x8000 is subtracted from each before, masked ones too, and added at the end
// for all. A lane grows by less than 1<<17 in a step of 64 bytes.
TEXT ·copySumAVX2(SB), NOSPLIT, $0-56
	MOVQ dst_base+0(FP), DI
	MOVQ src_base+24(FP), SI
	MOVQ src_len+32(FP), DX

	// An odd last byte.
	MOVBLZX -1(SI)(DX*1), AX
	MOVB    AX, -1(DI)(DX*1)
	MOVQ    DX, CX
	ANDQ    $1, CX
	SUBQ    CX, DX
	NEGQ    CX
	ANDQ    CX, AX

	VPCMPEQW Y8, Y8, Y8
	VPSLLW   $15, Y8, Y9 // 0x8000
	VPSRLW   $15, Y8, Y8 // 1
	LEAQ     masks<>(SB), R8

	// BX bytes up to an aligned address, none if that is an odd number: ones
	// in the mask for the first BX of 32 bytes.
	MOVQ    DI, BX
	NEGQ    BX
	ANDQ    $31, BX
	MOVQ    BX, CX
	ANDQ    $1, CX
	DECQ    CX
	ANDQ    CX, BX
	MOVQ    R8, R9
	SUBQ    BX, R9
	VMOVDQU (SI), Y4
	VMOVDQU Y4, (DI)
	VPAND   32(R9), Y4, Y0

	// The loop's part, and what remains behind it: ones for the last CX of 64.
	VMOVDQU -64(SI)(DX*1), Y5
	VMOVDQU -32(SI)(DX*1), Y6
	VMOVDQU Y5, -64(DI)(DX*1)
	VMOVDQU Y6, -32(DI)(DX*1)
	ADDQ    BX, SI
	ADDQ    BX, DI
	SUBQ    BX, DX
	MOVQ    DX, CX
	ANDQ    $63, CX
	VPAND   32(R8)(CX*1), Y5, Y1
	VPAND   64(R8)(CX*1), Y6, Y2
	SHRQ    $6, DX

	// 0x8000 for each word: 32 a step, 48 outside of the loop.
	MOVQ DX, BX
	SHLQ $20, BX
	ADDQ BX, AX
	ADDQ $0x180000, AX

	VPXOR    Y9, Y0, Y0
	VPXOR    Y9, Y1, Y1
	VPXOR    Y9, Y2, Y2
	VPMADDWD Y8, Y0, Y0
	VPMADDWD Y8, Y1, Y1
	VPMADDWD Y8, Y2, Y2
	VPADDD   Y2, Y0, Y0

loop:
	VMOVDQU  (SI), Y4
	VMOVDQU  32(SI), Y5
	VMOVDQU  Y4, (DI)
	VMOVDQU  Y5, 32(DI)
	VPXOR    Y9, Y4, Y4
	VPXOR    Y9, Y5, Y5
	VPMADDWD Y8, Y4, Y4
	VPMADDWD Y8, Y5, Y5
	VPADDD   Y4, Y0, Y0
	VPADDD   Y5, Y1, Y1
	ADDQ     $64, SI
	ADDQ     $64, DI
	DECQ     DX
	JNZ      loop

	VPADDD       Y1, Y0, Y0
	VEXTRACTI128 $1, Y0, X1
	VPMOVSXDQ    X0, Y2
	VPMOVSXDQ    X1, Y3
	VPADDQ       Y3, Y2, Y2
	VEXTRACTI128 $1, Y2, X1
	VPADDQ       X1, X2, X2
	VPSHUFD      $0x4E, X2, X1
	VPADDQ       X1, X2, X2
	VMOVQ        X2, BX
	VZEROUPPER
	ADDQ         BX, AX
	MOVQ         AX, ret+48(FP)
	RET
