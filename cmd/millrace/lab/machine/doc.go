// Package machine says what a measurement ran on: the environment that decides
// a result and that a reader cannot see.
//
//	/proc, /sys  ->  Describe  --+
//	                             +-> Machine -> every result of the lab
//	pointer chase, copy  --------+
//
// What a virtual machine or another system does not tell is "unknown", never a
// guess. Latency of memory and bandwidth of a copy are measured in the run: no
// figure of an experiment can be understood without that floor.
//
// The trap: caches and clock are those that the hypervisor tells of. A guest
// shares both with others.
package machine
