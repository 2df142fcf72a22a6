package explain

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/cmd/millrace/capture"
	"github.com/millrace-net/millrace/gro"
	"github.com/millrace-net/millrace/internal/testenv"
)

// explained runs Explain as the command does and decodes its lines.
func explained[T any](t *testing.T, file string, o Options) (lines []T) {
	t.Helper()
	r, err := capture.Open(file)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out bytes.Buffer
	o.JSON = true
	odd := &capture.Error{} // a file whose head only is wrong is read to its end
	if err := Explain(r, &out, o); err != nil && (!errors.As(err, &odd) || odd.Frame != 0) {
		t.Fatal(err)
	}
	d := json.NewDecoder(&out)
	d.DisallowUnknownFields()
	for {
		var line T
		if err := d.Decode(&line); err == io.EOF {
			return lines
		} else if err != nil {
			t.Fatalf("%s: line %d: %v", file, len(lines)+1, err)
		}
		lines = append(lines, line)
	}
}

// The kernel's header length of 50,518 real frames.
func TestHeaderLengthGolden(t *testing.T) {
	captures := testenv.Shared(t, "captures")
	f, err := os.Open(testenv.Shared(t, "golden", "headlen.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var name string
	var lines []frameLine
	rows, wrong := 0, 0
	for s := bufio.NewScanner(f); s.Scan(); {
		if strings.HasPrefix(s.Text(), "#") {
			continue
		}
		file, numbers, _ := strings.Cut(s.Text(), "\t")
		if file != name {
			name, lines = file, explained[frameLine](t, filepath.Join(captures, file), Options{})
		}
		rows++
		if err := checkHeaderLength(numbers, lines); err != nil {
			if wrong++; wrong < 10 {
				t.Errorf("%s: %v", file, err)
			}
		}
	}
	if rows != 50518 || wrong > 0 {
		t.Errorf("%d rows, %d wrong", rows, wrong)
	}
}

// checkHeaderLength compares one row (golden/README.md). Column 3 is not
// compared: the kernel was given simple packet blocks with their padding.
func checkHeaderLength(row string, lines []frameLine) error {
	var frame, caplen, stripped, payload int
	var want string // "-" where the dissector failed
	if _, err := fmt.Sscan(row, &frame, &caplen, &stripped, &payload, &want); err != nil {
		return err
	}
	if frame > len(lines) {
		return fmt.Errorf("frame %d of %d", frame, len(lines))
	}
	have := lines[frame-1]
	ok := fmt.Sprint(have.HeaderLen) == want
	if payload == 0 {
		ok = have.HeaderLen >= 14 && have.HeaderLen <= caplen
	}
	if !ok || have.Frame != frame {
		return fmt.Errorf("frame %d: have %+v, want length %s", frame, have, want)
	}
	return nil
}

// window is a record of the golden GRO files. Out has length, vnet flags, GSO
// type, GSO size, the kernel's linear length, checksum start and offset, and
// the digest of each packet.
type window struct {
	File  string
	First int
	N     int
	Out   [][8]any
}

// key is a packet as golden files and our lines both tell it.
func (w *window) key(i int) string {
	o := w.Out[i]
	return fmt.Sprint(o[0], o[1], o[2], o[3], o[5], o[6], o[7])
}

func (l *packetLine) key() string {
	return fmt.Sprint(l.Len, l.VnetFlags, l.GSOType, l.GSOSize, l.CSumStart, l.CSumOffset, l.SHA1)
}

// differing are the windows, of both files, in which our order rule shows
// (docs/gro.md): a packet that the kernel lets overtake a held one of its flow
// completes that one here.
var differing = map[string]bool{}

func TestGROGoldenAsCaptured(t *testing.T)     { groGolden(t, "gro_as_captured.jsonl", false) }
func TestGROGoldenChecksumsFixed(t *testing.T) { groGolden(t, "gro_checksums_fixed.jsonl", true) }

// groGolden compares what comes out of each window with what came out of the
// kernel, as multisets.
func groGolden(t *testing.T, golden string, fix bool) {
	captures := testenv.Shared(t, "captures")
	f, err := os.Open(testenv.Shared(t, "golden", golden))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	windows, different := 0, 0
	s := bufio.NewScanner(f)
	s.Buffer(nil, 1<<20)
	for s.Scan() {
		var w window
		if err := json.Unmarshal(s.Bytes(), &w); err != nil {
			t.Fatal(err)
		}
		if w.File == "" { // the head of the file
			continue
		}
		windows++
		diff := compareWindow(t, filepath.Join(captures, w.File), &w, fix)
		if name := fmt.Sprintf("%s %d", w.File, w.First); differing[name] {
			different++
		} else if diff != "" {
			t.Errorf("%s, %d frames:%s", name, w.N, diff)
		}
	}
	if windows < 200 || different*50 > windows {
		t.Errorf("%d windows, %d of them listed as different", windows, different)
	}
}

func compareWindow(t *testing.T, file string, w *window, fix bool) (diff string) {
	t.Helper()
	lines := explained[packetLine](t, file, Options{
		GRO: true, FixChecksums: fix, Frames: Range{w.First, w.First + w.N - 1},
		Merge: gro.Config{Buckets: 1},
	})
	counts := map[string]int{}
	for i := range w.Out {
		counts[w.key(i)]--
	}
	for i := range lines {
		counts[lines[i].key()]++
	}
	for _, key := range slices.Sorted(maps.Keys(counts)) {
		if n := counts[key]; n != 0 {
			diff += fmt.Sprintf("\n\t%+d of [%s]", n, key)
		}
	}
	return diff
}
