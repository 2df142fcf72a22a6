package outfile

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// A File is a file on its way to its name. It belongs to one goroutine.
type File struct {
	file *os.File
	name string // "" if file has its name already
}

// Create begins the file name. A directory, and a place that cannot be written
// to, are refused here.
func Create(name string) (*File, error) {
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		return nil, fmt.Errorf("write %s: it is a directory", name)
	}
	if err == nil && !info.Mode().IsRegular() {
		return open(name, os.O_WRONLY, "")
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // so that the rename replaces the file, not the link
	}
	hidden := fmt.Sprintf(".%s.%d.part", filepath.Base(name), os.Getpid())
	return open(filepath.Join(filepath.Dir(name), hidden), os.O_WRONLY|os.O_CREATE|os.O_EXCL, name)
}

// open opens a file that will be called name.
func open(file string, flags int, name string) (*File, error) {
	f, err := os.OpenFile(file, flags, 0o666)
	if err != nil {
		return nil, err
	}
	return &File{file: f, name: name}, nil
}

// Write appends to the file.
func (f *File) Write(b []byte) (int, error) { return f.file.Write(b) }

// Commit gives the file its name. err is what went wrong in writing it: then,
// and when it cannot be closed or renamed, nothing is left of it.
func (f *File) Commit(err error) error {
	err = errors.Join(err, f.file.Close())
	if f.name == "" {
		return err
	}
	if err == nil {
		err = os.Rename(f.file.Name(), f.name)
	}
	if err != nil {
		os.Remove(f.file.Name()) // err already says what went wrong
	}
	return err
}

// Abort gives the file up: nothing is left of it.
func (f *File) Abort() error {
	err := f.file.Close()
	if f.name == "" {
		return err
	}
	return os.Remove(f.file.Name())
}
