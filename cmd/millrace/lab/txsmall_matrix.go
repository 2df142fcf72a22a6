package lab

import (
	"github.com/millrace-net/millrace/dma"
)

// A txGroup is cases that differ in way and threshold alone.
type txGroup []txCase

// slowInvalidateNs is what an invalidation takes where hardware has to
// acknowledge it: facts/mlx5e.md 8.3 has microseconds for an SMMU without
// contention, and this is one.
const slowInvalidateNs = 1000

// txGroups is the matrix. Quick is the cases that carry claims and crossover;
// the whole has one factor after the other around them, and ways by thresholds
// by sizes in each mode.
func txGroups(quick bool) (list []txGroup) {
	for _, mode := range txModes {
		list = append(list, txRequests(mode, quick)...)
	}
	for _, mode := range txModes {
		for _, size := range txSizes {
			if !quick || size != 192 {
				list = append(list, txFlood(size, mode, quick))
			}
		}
	}
	if !quick {
		for _, mode := range txModes {
			list = append(list, txFactors(mode)...)
		}
	}
	return list
}

// txRequests are requests and responses in one mode.
func txRequests(mode dma.Mode, quick bool) (list []txGroup) {
	group := func(req, resp, conns int, ways ...string) (g txGroup) {
		for _, way := range ways {
			g = append(g, request(req, resp, conns, mode, way))
		}
		return g
	}
	list = append(list, group(1, 1, 250, txWays...), group(200, 1000, 250, txWays...))
	switch {
	case quick && mode == dma.Passthrough:
		alone := group(1, 1, 250, wayAuto, wayLinearize)
		for i := range alone {
			alone[i].batch = 1
		}
		return append(list, alone)
	case quick && mode != dma.Strict:
		return list
	case quick:
		list = append(list, group(1, 1, 50, wayAuto), group(200, 1000, 50, wayAuto),
			group(1024, 1024, 250, wayAuto))
	default:
		list = append(list, group(1, 1, 50, txWays...), group(200, 1000, 50, txWays...),
			group(1024, 1024, 50, txWays...), group(1024, 1024, 250, txWays...))
	}
	if mode == dma.Strict || mode == dma.Lazy {
		slow := request(1, 1, 250, mode, wayAuto)
		slow.invalidateNs = slowInvalidateNs
		list = append(list, txGroup{slow})
	}
	return list
}

// txFlood is a flood of one size in one mode.
func txFlood(size int, mode dma.Mode, quick bool) (g txGroup) {
	for _, way := range []string{wayInline, wayPremapped, wayLinearize} {
		for _, n := range txThresholds {
			if !quick || n == txWidest[way] && size <= n {
				g = append(g, flood(size, mode, way, n))
			}
		}
	}
	if !quick {
		g = append(g, flood(size, mode, wayHeaders, 0), flood(size, mode, wayKept, 0),
			flood(size, mode, wayAuto, everything))
	}
	return g
}

// txWidest is the largest threshold that a way takes: of inline, one that a WQE
// can hold.
var txWidest = map[string]int{wayInline: 512, wayPremapped: 2048, wayLinearize: 2048}

// txFactors changes one thing at a time: pages, doorbells, thresholds of
// requests and responses.
func txFactors(mode dma.Mode) (list []txGroup) {
	type factor func(*txCase)
	large := func(c *txCase) { c.pageBytes = 64 << 10 }
	factors := []factor{large, func(c *txCase) { c.batch = 1 }, func(c *txCase) { c.batch = 8 }}
	for _, f := range factors {
		for _, resp := range []int{1, 1000} {
			var g txGroup
			for _, way := range txWays {
				c := request(min(200, resp), resp, 250, mode, way)
				f(&c)
				g = append(g, c)
			}
			list = append(list, g)
		}
		for _, size := range []int{64, 256} {
			var g txGroup
			for _, way := range []string{wayInline, wayPremapped, wayLinearize} {
				c := flood(size, mode, way, txWidest[way])
				f(&c)
				g = append(g, c)
			}
			list = append(list, g)
		}
	}
	if mode == dma.Strict || mode == dma.Passthrough {
		list = append(list, txThresholdsOf(1, mode), txThresholdsOf(1000, mode))
	}
	return list
}

// txThresholdsOf is what responses of so many bytes cost by threshold.
func txThresholdsOf(resp int, mode dma.Mode) (g txGroup) {
	for _, way := range []string{wayInline, wayPremapped, wayLinearize} {
		for _, n := range txThresholds {
			c := request(min(200, resp), resp, 250, mode, way)
			c.copybreak = n
			g = append(g, c)
		}
	}
	return g
}
