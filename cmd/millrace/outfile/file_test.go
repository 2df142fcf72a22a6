package outfile

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// write begins name and writes hello to it.
func write(t *testing.T, name string) *File {
	t.Helper()
	f, err := Create(name)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	return f
}

// list is what lies in dir, hidden files included.
func list(t *testing.T, dir string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		names = append(names, e.Name())
	}
	return names
}

func TestCommitReplacesWhole(t *testing.T) {
	dir := t.TempDir()
	name := filepath.Join(dir, "a")
	if err := os.WriteFile(name, []byte("old"), 0o644); err != nil {
		t.Fatal(err)
	}
	f := write(t, name)
	if b, _ := os.ReadFile(name); string(b) != "old" {
		t.Errorf("before Commit the file holds %q", b)
	}
	if err := f.Commit(nil); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(name); string(b) != "hello" {
		t.Errorf("the file holds %q", b)
	}
	if names := list(t, dir); len(names) != 1 {
		t.Errorf("left behind: %q", names)
	}
}

func TestNothingIsLeft(t *testing.T) {
	dir := t.TempDir()
	failed := errors.New("failed")
	if err := write(t, filepath.Join(dir, "a")).Commit(failed); !errors.Is(err, failed) {
		t.Errorf("Commit says %v", err)
	}
	if err := write(t, filepath.Join(dir, "a")).Abort(); err != nil {
		t.Error(err)
	}
	if names := list(t, dir); len(names) != 0 {
		t.Errorf("left behind: %q", names)
	}
}

func TestLinksAndDevices(t *testing.T) {
	dir := t.TempDir()
	target, link := filepath.Join(dir, "target"), filepath.Join(dir, "link")
	for _, err := range []error{os.WriteFile(target, nil, 0o644), os.Symlink(target, link)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	if err := write(t, link).Commit(nil); err != nil {
		t.Fatal(err)
	}
	if b, _ := os.ReadFile(target); string(b) != "hello" {
		t.Errorf("behind the link lies %q", b)
	}
	if _, err := os.Readlink(link); err != nil {
		t.Error("the link was replaced")
	}
	if err := write(t, os.DevNull).Commit(nil); err != nil {
		t.Error(err)
	}
	if _, err := Create(dir); err == nil {
		t.Error("a directory is accepted")
	}
}
