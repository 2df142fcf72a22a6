// Package outfile writes files that appear whole or not at all.
//
//	Create -> .name.PID.part -> Write ... -> Commit: renamed to name
//	                                      -> Abort:  removed
//
// The caller owns the File and ends it with Commit or Abort. Who does neither
// leaves the hidden file behind.
//
// The trap: what is no regular file, a device or a pipe, is written to
// directly, and has seen what was written before an Abort.
package outfile
