package port

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
)

// A port that sleeps wakes up for each frame, whatever the moderation, and for
// what it sends.
func TestRunSleepsUntilEvents(t *testing.T) {
	for _, m := range []desc.Moderation{
		{}, {Frames: 1}, {Usecs: 4095, Frames: 1000}, {Usecs: 100, Frames: 9, FromCQE: true},
	} {
		p, err := Open("nic:", Config{Wait: Coalesce{RX: m, TX: m}})
		if err != nil {
			t.Fatal(err)
		}
		near, far, _ := nic.NewCable(4)
		p.Plug(near)
		p.PlugOut(near)
		ctx, stop := context.WithCancel(context.Background())
		over := make(chan error)
		go func() { over <- p.Run(ctx, func(b *packet.Batch) { p.Post(b) }) }()
		const frames = 20
		for n := range frames {
			far.Send(nic.Frame{Data: make([]byte, 60+n)})
			for f := (nic.Frame{}); !far.Next(0, &f); {
				time.Sleep(10 * time.Microsecond)
			}
			time.Sleep(time.Millisecond) // long enough for the loop to fall asleep
		}
		stop()
		if err := <-over; err != nil {
			t.Error(err)
		}
		s := p.Stats()
		if s.Packets != frames || s.Events == 0 || s.Arms < s.Events || s.Polls == 0 {
			t.Errorf("%+v: %d packets, %d events of %d asked for in %d polls",
				m, s.Packets, s.Events, s.Arms, s.Polls)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestModerationIsChecked(t *testing.T) {
	for want, c := range map[string]Coalesce{
		"receive: desc: Usecs of the moderation is 4096, want 0 to 4095": {
			RX: desc.Moderation{Usecs: 4096}},
		"transmit: desc: Frames of the moderation is -1, want 0 to 65535": {
			TX: desc.Moderation{Frames: -1}},
	} {
		_, err := Open("nic:", Config{Wait: c})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}
