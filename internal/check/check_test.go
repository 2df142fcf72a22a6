package check

import (
	"bytes"
	"testing"
)

func TestThat(t *testing.T) {
	That(true, "fine")
	defer func() {
		if got := recover(); got != "check: page 3 freed twice" {
			t.Errorf("panic with %v", got)
		}
	}()
	That(false, "page %d freed twice", 3)
	t.Error("no panic")
}

func TestFill(t *testing.T) {
	b := make([]byte, 10)
	Fill(b[2:8])
	if want := []byte("\x00\x00\xcc\xcc\xcc\xcc\xcc\xcc\x00\x00"); !bytes.Equal(b, want) {
		t.Errorf("got %x, want %x", b, want)
	}
}
