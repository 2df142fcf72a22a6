// Package pagepool keeps pages mapped for the device and recycles them, as
// Linux's page_pool does (facts/mlx5e.md 5).
//
//	          cache (128, last in first out) <---- Put, last reference
//	Alloc <-    ^ 64                          \ cache full
//	            ring (first in first out)  <---+--- Drain <- Return, anyone
//	            ^ 64, mapped                   | ring full
//	          Provider (the region)  <---------+ unmapped
//
// One goroutine owns a pool, and with it the pages' records; only Return may
// be called by others. Alloc gives a page with Bias references. The owner
// hands them out one by one, counting in a variable of its own; who gets one
// gives it back with Put or Return, and the owner puts Bias less the number
// it handed out when it is done with the page. The page comes home when the
// count is 0: no atomic operation on the way. A ring keeps page and variable in
// a Slot; Renew lets a page that is all home stay in it.
//
// Every page is in one place: free (cache or ring), or out. A return of
// something that is not out is counted as BadPut and changes nothing; with
// -tags check it panics and says who gave the page back before, and a write
// to a free page is found when the page is handed out again.
//
// The trap: a reference given back twice is seen only when the others have
// come back as well. The page then stays out for good, and Close names it.
package pagepool
