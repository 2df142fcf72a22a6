package gso

import (
	"bufio"
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/internal/testenv"
)

// Every window of frames of the golden files comes back as it was, merged
// under all rules that there are.
func TestRoundTripGolden(t *testing.T) {
	configs := []gro.Config{
		{Buckets: 1}, {UDP: true, VXLAN: tunnelPorts}, {Verified: true, UDP: true},
	}
	for name, fix := range map[string]bool{
		"gro_checksums_fixed.jsonl": true, "gro_as_captured.jsonl": false,
	} {
		t.Run(name, func(t *testing.T) {
			windows := readWindows(t, name, fix)
			for _, c := range configs {
				if c.Verified && !fix {
					continue // it would rely on checksums that are wrong
				}
				m, err := gro.NewMerger(c)
				if err != nil {
					t.Fatal(err)
				}
				frames, merged := 0, 0
				for _, w := range windows {
					out, n := roundTrip(t, m, eth, w)
					checkRestored(t, eth, w, out)
					frames, merged = frames+len(w), merged+n
				}
				t.Logf("%+v: %d windows, %d frames, %d merged", c, len(windows), frames, merged)
				if merged < frames/10 {
					t.Errorf("only %d of %d frames were merged", merged, frames)
				}
			}
		})
	}
}

// readWindows reads the frames of all windows of a golden file.
func readWindows(t *testing.T, name string, fix bool) (windows [][][]byte) {
	t.Helper()
	file, err := os.Open(testenv.Shared(t, "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	captures := map[string][][]byte{}
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, 1<<20)
	for lines.Scan() {
		var w struct {
			File     string
			First, N int
		}
		if err := json.Unmarshal(lines.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		if w.File == "" {
			continue // about the file itself
		}
		if captures[w.File] == nil {
			captures[w.File] = readFrames(t, w.File, fix)
		}
		windows = append(windows, captures[w.File][w.First-1:w.First-1+w.N])
	}
	return windows
}

// readFrames reads the frames of a capture that the golden files count.
func readFrames(t *testing.T, name string, fix bool) (frames [][]byte) {
	t.Helper()
	path := filepath.Join(testenv.Shared(t, "captures"), filepath.FromSlash(name))
	all, err := testenv.ReadCapture(path)
	if err != nil && len(all) == 0 {
		t.Fatal(err)
	}
	for _, f := range all {
		if len(f.Data) < 14 {
			continue
		}
		b := bytes.Clone(f.Data)
		if fix {
			fixChecksums(eth, b)
		}
		frames = append(frames, b)
	}
	return frames
}
