// Package capture reads and writes capture files: pcap and pcapng, plain or
// gzip, either byte order, microseconds or nanoseconds, several interfaces with
// link types of their own.
//
//	file -> Reader.Next -> Frame -> ... -> Writer.Write -> hidden file -> rename
//
// A Frame's bytes are lent by the Reader until its next call; the Writer copies
// what it is given. A Reader and a Writer belong to one goroutine each.
//
// The file format itself is read and written by gopacket's pcapgo. This package
// adds what a data path needs around it: one Frame for both formats, frame
// numbers in errors, link types mapped to those of package header, and an
// output file that appears whole or not at all.
//
// The trap: a damaged file is damaged from one frame on. Next returns the
// frames before it, then an Error that names the frame; nothing behind it can
// be trusted, and nothing behind it is read.
package capture
