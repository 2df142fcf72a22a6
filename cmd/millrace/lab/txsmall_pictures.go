package lab

import (
	"fmt"

	"github.com/millrace-net/millrace/cmd/millrace/lab/page"
	"github.com/millrace-net/millrace/cmd/millrace/lab/result"
	"github.com/millrace-net/millrace/dma"
)

var txSmallPictures = txPictures()

func txPictures() (list []page.Picture) {
	for _, mode := range txModes {
		list = append(list, page.Picture{
			Title: "Cost of a packet by size, iommu=" + mode.String(), Kind: page.Lines,
			Metric: "ns_per_packet", X: "size", Base: wayMapped, Log: true,
			XLabel: "bytes of a frame", YLabel: "ns per packet",
			Where:  func(c *result.Case) bool { return onCurve(c, mode) },
			Series: func(c *result.Case) string { return c.Key("way") },
			See: "Lower is better. A way pays up to the size where its line meets that of " +
				"mapping; inline ends where a WQE is full. Bars are quartiles of the rounds.",
		})
	}
	for _, mode := range txModes {
		list = append(list, page.Picture{
			Title: "Transactions against mapping, iommu=" + mode.String(), Kind: page.Ratios,
			Where: func(c *result.Case) bool { return asUsual(c, mode) },
			See: "A dot right of the line at 1: the way brings more transactions than mapping; " +
				"bars are intervals of 95 %.",
		})
	}
	return append(list, page.Picture{
		Title: "Every round of 1x1 in strict mode", Kind: page.Rounds, Metric: "ns_per_packet",
		YLabel: "ns per transaction",
		Where: func(c *result.Case) bool {
			return c.Name == txName(rrSmall, dma.Strict, wayAuto)
		},
		See: "Baseline and variant of a round lie above each other; drift of the machine " +
			"moves both.",
	})
}

// asUsual: requests and responses with nothing else in the name.
func asUsual(c *result.Case, mode dma.Mode) bool {
	return c.Name == txName(c.Key(""), mode, c.Key("way"))
}

// onCurve: a flood whose packets all go by the way, as usual otherwise.
func onCurve(c *result.Case, mode dma.Mode) bool {
	way := c.Key("way")
	widest, ok := txWidest[way]
	return ok && c.Key("") == "flood" && c.Key("size") != "" && c.Key("iommu") == mode.String() &&
		c.Key("copybreak") == fmt.Sprint(widest) && c.Key("pages") == "4KiB" &&
		c.Key("batch") == fmt.Sprint(txBatch) && (way != wayInline || withinCopybreak(c))
}
