// Command bench does the work of millrace's packages and of their peers on the
// same packets in one run, and prints a table. README.md says what is measured.
//
//	contest (a piece of work)
//	   entry  millrace       run      \
//	   entry  a Go peer      run       > a round measures each once, in turn
//	   entry  DPDK           ask      /
//	             |
//	         dpdk/bench.c, a process that waits for requests
//
// An entry owns its packets and buffers. It prepares them before each run,
// outside of the time that counts.
//
// The trap: peers do not do the same work. The table says who verifies
// checksums and who copies payload; read it before the figures.
package main
