//go:build !purego

#include "textflag.h"

// func TSC() uint64
TEXT ·TSC(SB), NOSPLIT, $0-8
	MRS  CNTVCT_EL0, R0
	MOVD R0, ret+0(FP)
	RET

// func frequency() uint64
TEXT ·frequency(SB), NOSPLIT, $0-8
	MRS  CNTFRQ_EL0, R0
	MOVD R0, ret+0(FP)
	RET
