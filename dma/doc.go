// Package dma is the address space of the device: what it may reach, and
// under which address.
//
//	driver  MapRange(page, off, n, dir) -> IOVA      Unmap(IOVA)
//	             |                                      |
//	        page table  <- walk, on a miss -  IOTLB  <- invalidation: now (Strict),
//	                                            |       with 255 others (Lazy)
//	device              Reach(IOVA, n, write) --+-> bytes of the page, or a fault
//
//	Passthrough  IOVA = page and offset; no table, no protection
//	Strict, Lazy IOMMU: granules of 4 KiB, IOTLB, IOVA caches (facts/mlx5e.md 8)
//	Bounce       no IOMMU; the device has a copy, made at Map, Unmap and Sync
//
// A range that is mapped belongs to the device. SyncForCPU hands n bytes of it
// to the CPU, SyncForDevice hands them back, Unmap ends the device's view. A
// device access outside a mapping is a fault, counted, never an error of the
// caller. In Bounce the copies make ownership real: bytes that nobody synced
// never arrive at the other side, and with Poison they read as 0xCC.
//
// A queue maps through a Mapper, which one goroutine owns; Domain's own Map
// and Unmap are for any goroutine. Devices may run on others: an invalidation
// locks the sets of the IOTLB that a look-up locks, so no Reach that begins
// after it uses the old translation. Reach lends its bytes until they are
// unmapped; Unmap does not wait for a device that still holds them, it is for
// the driver to see their completion first. Nobody gets an address before the
// IOTLB has forgotten its last use.
//
// The trap: Passthrough forgives. A missing SyncForCPU or an access behind
// Unmap goes unseen there, so tests of a driver use Bounce with Poison.
package dma
