//go:build !purego

#include "textflag.h"

// func TSC() uint64
TEXT ·TSC(SB), NOSPLIT, $0-8
	RDTSC
	SHLQ $32, DX
	ORQ  DX, AX
	MOVQ AX, ret+0(FP)
	RET
