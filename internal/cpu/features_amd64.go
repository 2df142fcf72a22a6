package cpu

import "golang.org/x/sys/cpu"

// AVX2 tells that the processor has 256-bit integer instructions and that the
// operating system saves their registers.
var AVX2 = cpu.X86.HasAVX2
