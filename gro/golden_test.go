package gro

import (
	"bufio"
	"crypto/sha1"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
)

// A window is frames of a capture and what Linux made of them.
type window struct {
	File  string
	First int // from 1, counting frames of 14 bytes and more
	N     int
	Out   []goldenPacket

	frames [][]byte
}

func (w window) String() string { return fmt.Sprintf("%s %d", w.File, w.First) }

// A goldenPacket is a packet that came out. The kernel's header length is its
// linear length, and not compared.
type goldenPacket struct {
	Len, Flags, Kind, Size, CSumStart, CSumOffset int
	SHA1                                          string
}

func (p *goldenPacket) UnmarshalJSON(b []byte) error {
	var headerLen int
	return json.Unmarshal(b, &[]any{&p.Len, &p.Flags, &p.Kind, &p.Size, &headerLen,
		&p.CSumStart, &p.CSumOffset, &p.SHA1})
}

func (o outcome) golden() goldenPacket {
	sum := sha1.Sum(o.data)
	return goldenPacket{len(o.data), o.flags, o.kind, o.size, o.csumStart, o.csumOffset,
		hex.EncodeToString(sum[:8])}
}

// goldenWindows reads a file of ../shared/golden and the frames it is about.
func goldenWindows(t testing.TB, name string, fix bool) (windows []window) {
	t.Helper()
	f, err := os.Open(testenv.Shared(t, "golden", name))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	files := map[string][][]byte{}
	for lines.Scan() {
		var w window
		if err := json.Unmarshal(lines.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		if w.File == "" {
			continue // the line about the file
		}
		if files[w.File] == nil {
			files[w.File] = captured(t, w.File, fix)
		}
		w.frames = files[w.File][w.First-1:][:w.N]
		windows = append(windows, w)
	}
	return windows
}

func captured(t testing.TB, file string, fix bool) (frames [][]byte) {
	all, err := testenv.ReadCapture(filepath.Join(testenv.Shared(t, "captures"), file))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range all {
		if len(f.Data) < header.EthernetBytes {
			continue
		}
		if fix {
			FixChecksums(header.LinkEthernet, f.Data)
		}
		frames = append(frames, f.Data)
	}
	return frames
}

// A row of the table: | `file` | first frame | ...
var windowRow = regexp.MustCompile(`(?m)^\| ` + "`(\\S+)` \\| (\\d+) \\|")

// listedWindows reads the table of docs/gro.md: windows that differ because of
// our ordering rule.
func listedWindows(t testing.TB) map[string]bool {
	b, err := os.ReadFile(filepath.Join(testenv.Root(), "docs", "gro.md"))
	if err != nil {
		t.Fatal(err)
	}
	listed := map[string]bool{}
	for _, row := range windowRow.FindAllSubmatch(b, -1) {
		listed[string(row[1])+" "+string(row[2])] = true
	}
	return listed
}

// TestGolden: on real frames the engine answers as Linux 6.18 does, window by
// window as a multiset, and within a flow nothing changes places.
func TestGolden(t *testing.T) {
	listed := listedWindows(t)
	for name, fix := range map[string]bool{
		"gro_as_captured.jsonl": false, "gro_checksums_fixed.jsonl": true,
	} {
		windows, differ, merged := goldenWindows(t, name, fix), 0, 0
		for _, w := range windows {
			c := Config{Buckets: 1}
			out, _ := merge(t, c, w.frames...)
			checkLaws(t, c, w.frames, out)
			merged += len(w.frames) - len(out)
			var got []goldenPacket
			for _, o := range out {
				got = append(got, o.golden())
			}
			extra, missing := without(got, w.Out), without(w.Out, got)
			if len(extra)+len(missing) == 0 {
				continue
			}
			differ++
			if !listed[w.String()] {
				t.Errorf("%s, %s: %v\nLinux: %v", name, w, extra, missing)
			}
		}
		t.Logf("%s: %d windows, %d differ, %d frames merged", name, len(windows), differ, merged)
		if fix && differ != len(listed) {
			t.Errorf("docs/gro.md lists %d windows that differ, %d do", len(listed), differ)
		}
		if differ*50 > len(windows) {
			t.Errorf("%s: %d of %d windows differ, more than 2 %%", name, differ, len(windows))
		}
	}
}

// without is a less b, as multisets.
func without(a, b []goldenPacket) (rest []goldenPacket) {
	b = slices.Clone(b)
	for _, p := range a {
		if i := slices.Index(b, p); i >= 0 {
			b = slices.Delete(b, i, i+1)
		} else {
			rest = append(rest, p)
		}
	}
	return rest
}
