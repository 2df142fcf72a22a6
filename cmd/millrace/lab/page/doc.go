// Package page draws results: one HTML file that needs nothing else.
//
//	result.Result -+-> pictures (gonum/plot) -> inline SVG --+
//	               +-> claims, cases, machine ---------------+-> page
//
// A picture has axes with units and a caption that says what to see. The page
// is read at 390 and at 1280 pixels: pictures are as wide as a telephone and
// stand side by side where there is room; wide tables scroll by themselves.
//
// The trap: gonum/plot places text by the widths of Liberation Sans, so the
// page names fonts with the same widths.
package page
