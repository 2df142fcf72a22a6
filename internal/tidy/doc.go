// Package tidy holds the style of this repository as tests: which package may
// import which, how long a file, a function and a line may be, where unsafe
// and system calls live, and which words are not used.
//
//	every .go file of every module -> file -> rules -> path:line: what to do
//
// It owns nothing and reads the source tree only. A rule is a function from a
// parsed file to findings, with a piece of bad source that it must find, so
// that no rule goes blind. Facts about the tree as a whole (layers, large
// files, interfaces) are tests of their own. inline.txt lists the small
// functions that the compiler must inline: add a line when you write one that
// runs for each packet.
//
// The trap: rules see files, not builds. A file for another system or build
// tag is held to them, too.
package tidy
