package main

import (
	"time"

	"github.com/millrace-net/millrace/cmd/millrace/capture"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/nic"
)

// cableFrames is how many frames wait between the device and the file.
const cableFrames = 1024

// A leaving writes the frames that leave the device to a file. It has a
// goroutine: the device is not to wait for a disk more than it must.
type leaving struct {
	far    *nic.End
	file   *capture.Writer
	failed func() // called with the first error
	over   chan struct{}
	done   chan error
}

// newLeaving gives the end of a cable to plug into the device. The goroutine
// begins with start and ends with finish.
func newLeaving(file *capture.Writer) (l *leaving, near *nic.End, err error) {
	near, far, err := nic.NewCable(cableFrames)
	return &leaving{
		far: far, file: file, over: make(chan struct{}), done: make(chan error, 1),
	}, near, err
}

func (l *leaving) start(failed func()) {
	l.failed = failed
	go func() { l.done <- l.write() }()
}

// write takes frames until it is over and none is left. Behind an error it
// still takes them, so that the device goes on.
func (l *leaving) write() (err error) {
	number, _ := capture.NumberOf(header.LinkEthernet)
	var f nic.Frame
	for over := false; ; {
		for l.far.Next(0, &f) {
			if err != nil {
				continue
			}
			err = l.file.Write(&capture.Frame{
				Data: f.Data, LinkNumber: number, Time: f.Time, Length: len(f.Data),
			})
			if err != nil {
				l.failed()
			}
		}
		if over {
			return err
		}
		select {
		case <-l.over:
			over = true // one more look
		case <-time.After(100 * time.Microsecond):
		}
	}
}

// finish waits until all that was sent is written.
func (l *leaving) finish() error {
	if l.failed == nil {
		return nil // it never began
	}
	close(l.over)
	return <-l.done
}
