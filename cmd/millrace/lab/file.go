package lab

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// A whole is a file that appears under its name when it is complete, or not at
// all. What is no regular file is written directly.
type whole struct {
	file *os.File
	name string // "" if file has its name already
}

// create begins the file, so that one that cannot be written is refused before
// anything is measured.
func create(name string) (*whole, error) {
	info, err := os.Stat(name)
	if err == nil && info.IsDir() {
		return nil, fmt.Errorf("write %s: it is a directory", name)
	}
	if err == nil && !info.Mode().IsRegular() {
		return begin(name, os.O_WRONLY, "")
	}
	if target, err := filepath.EvalSymlinks(name); err == nil {
		name = target // so that the rename replaces the file, not the link
	}
	hidden := fmt.Sprintf(".%s.%d.part", filepath.Base(name), os.Getpid())
	return begin(filepath.Join(filepath.Dir(name), hidden), os.O_WRONLY|os.O_CREATE|os.O_EXCL, name)
}

// begin opens a file that will be called name.
func begin(file string, flags int, name string) (*whole, error) {
	f, err := os.OpenFile(file, flags, 0o666)
	if err != nil {
		return nil, err
	}
	return &whole{file: f, name: name}, nil
}

// commit writes the file and gives it its name.
func (w *whole) commit(write func(io.Writer) error) error {
	err := errors.Join(write(w.file), w.file.Close())
	if w.name == "" {
		return err
	}
	if err == nil {
		err = os.Rename(w.file.Name(), w.name)
	}
	if err != nil {
		os.Remove(w.file.Name()) // err already says what went wrong
	}
	return err
}

// abort gives the file up: nothing is left of it.
func (w *whole) abort() {
	w.file.Close()
	if w.name != "" {
		os.Remove(w.file.Name()) // another error is on its way
	}
}
