// Package dma is the address space of the device: what it may reach, and
// under which address.
//
//	driver   Map(page) -> IOVA                    SyncForCPU(IOVA, n)
//	                       |                         ^
//	device          Reach(IOVA, n) -> bytes of the page, or a fault
//
//	Identity   IOVA = page and offset; both sides see one memory
//	PageTable  IOVA -> radix table -> frame: the device's copy of the page
//
// A page that is mapped belongs to the device; SyncForCPU hands n bytes of it
// to the CPU, SyncForDevice hands them back, Unmap ends the device's view. In
// PageTable mode the copies make this real: bytes that nobody synced never
// arrive at the other side. A device access outside a mapped page is a fault,
// counted, never an error of the caller.
//
// Map, Unmap and Reach may run on several goroutines. Sync and CheckRead
// belong to the goroutine that owns the page. Reach lends its bytes until the
// page is unmapped; Unmap does not wait for a device that still writes.
//
// The trap: Identity forgives. A missing SyncForCPU or an access behind Unmap
// goes unseen there, so tests of a driver use PageTable with Poison.
package dma
