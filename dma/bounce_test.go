package dma

import (
	"bytes"
	"testing"

	"github.com/millrace-net/millrace/internal/check"
)

// Copies and bytes: Map copies in whatever the direction, Unmap copies back
// what the device may have written, but not a page that is held.
func TestBounceCopies(t *testing.T) {
	d := New(Config{Mode: Bounce})
	page := open(t, 4096, 1)[0]
	expect := func(what string, copies, n uint64) {
		t.Helper()
		if s := d.Stats(); s.BounceCopies != copies || s.BounceBytes != n {
			t.Errorf("%s: %d copies, %d bytes, want %d, %d", what,
				s.BounceCopies, s.BounceBytes, copies, n)
		}
	}
	iova := mapRange(t, d, page, 10, 100, ToDevice)
	expect("map", 1, 100)
	d.SyncForCPU(iova, 100) // the device cannot have written
	expect("sync for CPU", 1, 100)
	d.SyncForDevice(iova, 50)
	expect("sync for device", 2, 150)
	d.Unmap(iova)
	expect("unmap", 2, 150)
	iova = mapRange(t, d, page, 10, 100, FromDevice)
	expect("map", 3, 250)
	d.SyncForDevice(iova, 100)
	expect("sync for device", 3, 250)
	d.SyncForCPU(iova, 8)
	expect("sync for CPU", 4, 258)
	d.Unmap(iova)
	expect("unmap", 5, 358)
	d.Unmap(mapPage(t, d, page))
	expect("a held page", 6, 358+4096)
}

// What the device writes comes to the CPU at Unmap; the rest of the range and
// of the page stays.
func TestBounceUnmapBringsBytes(t *testing.T) {
	for _, poison := range []bool{false, true} {
		for _, dir := range []Dir{FromDevice, Both} {
			d := New(Config{Mode: Bounce, Poison: poison})
			page := open(t, 4096, 1)[0]
			for i := range page.Bytes(0, 4096) {
				page.Bytes(0, 4096)[i] = byte(i)
			}
			want := bytes.Clone(page.Bytes(0, 4096))
			iova := mapRange(t, d, page, 1000, 300, dir)
			b, _ := d.Reach(iova+20, 5, true)
			copy(b, "water")
			copy(want[1020:], "water")
			hidden := page.Bytes(1000, 1)[0] == check.Poison
			if hidden != poison || d.CheckRead(iova, 300) == poison {
				t.Errorf("poison %v: the CPU reads %#x", poison, page.Bytes(1000, 1))
			}
			d.Unmap(iova)
			if !bytes.Equal(page.Bytes(0, 4096), want) {
				t.Errorf("poison %v, dir %d: the page differs behind Unmap", poison, dir)
			}
		}
	}
}

// A range that the device only reads is not poisoned, and a change of it
// while it is mapped is counted.
func TestWriteBehindMap(t *testing.T) {
	d := New(Config{Mode: Bounce, Poison: true})
	page := open(t, 4096, 1)[0]
	copy(page.Bytes(0, 4096), "packet")
	for i, change := range []bool{false, true} {
		iova := mapRange(t, d, page, 0, 64, ToDevice)
		if string(page.Bytes(0, 6)) != "packet" || !d.CheckRead(iova, 64) {
			t.Error("the CPU may not read what it sends")
		}
		page.Bytes(64, 1)[0]++ // behind the range
		if change {
			page.Bytes(5, 1)[0]++
		}
		if b, _ := d.Reach(iova, 6, false); string(b) != "packet" {
			t.Errorf("the device reads %q", b)
		}
		d.Unmap(iova)
		if s := d.Stats(); s.UnsyncedWrites != uint64(i) {
			t.Errorf("%d unsynced writes, want %d", s.UnsyncedWrites, i)
		}
	}
	iova := mapRange(t, d, page, 0, 64, ToDevice)
	copy(page.Bytes(0, 64), "PACKET")
	d.SyncForDevice(iova, 6)
	if b, _ := d.Reach(iova, 6, false); string(b) != "PACKET" {
		t.Errorf("the device reads %q behind the sync", b)
	}
	d.Unmap(iova)
	if s := d.Stats(); s.UnsyncedWrites != 1 {
		t.Error("a synced write was counted")
	}
}

// A slot shows nothing of the range that had it before.
func TestSlotsAreReused(t *testing.T) {
	d := small(Bounce, 2)
	page := open(t, 8192, 1)[0]
	copy(page.Bytes(0, 8192), bytes.Repeat([]byte("secret"), 1365))
	one := mapRange(t, d, page, 0, 4096, Both)
	d.Unmap(one)
	two := mapRange(t, d, page, 0, 100, Both)
	if two != one || reaches(t, d, two, 101) {
		t.Errorf("slots %#x, %#x; or the device sees behind the range", one, two)
	}
	if _, err := d.MapRange(page, 0, 4097, ToDevice); err != ErrNoSlot {
		t.Errorf("two granules of one: %v", err)
	}
}
