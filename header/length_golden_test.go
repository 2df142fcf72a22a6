package header_test

import (
	"bufio"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
)

// The kernel's answer on every Ethernet frame of the shared captures. Where its
// dissector failed, it does not tell how far it came.
func TestLengthGolden(t *testing.T) {
	file, err := os.Open(testenv.Shared(t, "golden", "headlen.tsv"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	dir := testenv.Shared(t, "captures")
	var name string
	var frames []testenv.Frame
	rows, lines := 0, bufio.NewScanner(file)
	for lines.Scan() {
		col := strings.Split(lines.Text(), "\t")
		if strings.HasPrefix(col[0], "#") {
			continue
		}
		rows++
		if col[0] != name {
			name = col[0]
			if frames, err = testenv.ReadCapture(filepath.Join(dir, name)); err != nil {
				t.Error(err)
			}
		}
		checkGolden(t, frames, col)
	}
	if err := lines.Err(); err != nil || rows < 50000 {
		t.Fatalf("%d rows read: %v", rows, err)
	}
}

func checkGolden(t *testing.T, frames []testenv.Frame, col []string) {
	t.Helper()
	i, err := strconv.Atoi(col[1])
	if err != nil || i > len(frames) {
		t.Errorf("%s has %d frames, want frame %s", col[0], len(frames), col[1])
		return
	}
	frame := frames[i-1].Data
	got := header.Length(header.LinkEthernet, frame)
	if col[4] == "0" {
		if got < 14 || got > len(frame) {
			t.Errorf("%s frame %d: length %d, want 14 to %d", col[0], i, got, len(frame))
		}
		return
	}
	if want := col[5]; strconv.Itoa(got) != want {
		t.Errorf("%s frame %d: length %d, want %s", col[0], i, got, want)
	}
}
