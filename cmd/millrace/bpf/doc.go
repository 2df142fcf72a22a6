// Package bpf runs the XDP program of a compiled object on single frames. The
// kernel's verifier checks the program and the kernel executes it
// (BPF_PROG_TEST_RUN); it is attached to no interface, and nothing is sent.
//
//	prog.bpf.o -> choose one program -> verifier -> Program
//	                                                   |
//	frame -> fits? --yes--> test run of the kernel <---+
//	           |no               |
//	           v                 v
//	        past it        verdict, frame as rewritten
//
// A Program belongs to one goroutine, and has maps of its own: what the object
// would pin or share is private to it and starts with what the object says.
// Close gives program and maps back to the kernel. The frame that Run returns
// is lent until the next Run.
//
// XDP sees Ethernet frames only. A frame that cannot be given to the program
// goes past it, with the reason as its outcome; nothing does so uncounted.
//
// The trap: a test run is a system call that allocates and copies, a hundred
// times the cost of the program. Its time says nothing about XDP on a NIC.
package bpf
