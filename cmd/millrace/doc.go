// Command millrace runs the receive path of Millrace and looks into it.
//
//	run      --from source -> software NIC -> rx -> GRO -> --to sink, report
//	explain  capture -> a line for each frame, or for what comes out of GRO
//	version
//
// Each command is a file: flags, then one function that does the work in the
// order it is told here. docs/command.md describes the flags.
//
// Exit codes are part of the interface: 0, 1 when the books of a run do not
// balance, 2 for input that is no good. An error is one line.
//
// The trap: whatever can be refused is refused before the output file is
// begun, and that file gets its name only when it is complete.
package main
