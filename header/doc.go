// Package header finds and reads protocol headers in frames.
//
//	frame  [ link | tags | IP (tunnel, IP) | TCP or UDP | payload        ]
//	Length  `------------------- n bytes --------------'
//	Parse         Outer    Tunnel Net        L4           Payload       End
//	views  *Ethernet *VLAN *IPv4  *GRE *IPv6 *TCP
//
// Length says how many bytes are headers, as Linux does before a driver copies
// them: it follows tunnels to the innermost transport header, and is right for
// anything, damaged frames included. Parse notes where each header lies, for
// what works on them afterwards: merging, segmentation, hashes, checksums. A
// view is an array pointer into the frame; its length is checked when it is
// made, and never again. Fields are in host byte order, offsets and lengths in
// bytes.
//
// Nothing here owns memory or keeps it: all functions and views borrow the
// frame of the caller, and none allocates.
//
// The trap: the same bytes are different headers on different links. A raw IP
// or InfiniBand frame can look like Ethernet, so everything takes a LinkType,
// and no frame is ever tried as another type.
package header
