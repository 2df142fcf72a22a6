package port

import (
	"bytes"
	"context"
	"testing"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
	"github.com/millrace-net/millrace/nic"
	"github.com/millrace-net/millrace/packet"
	"github.com/millrace-net/millrace/rx"
)

// wholeCopy is the packet's bytes in one piece: head, fragments, chain.
func wholeCopy(s *packet.Slab, p *packet.Packet, dst []byte) []byte {
	dst = append(dst, p.Bytes()...)
	sh := p.Shared()
	for _, f := range sh.Frags[:sh.NumFrags] {
		dst = append(dst, f.Bytes()...)
	}
	for c := sh.Chain; c != 0; c = s.At(c).Next {
		dst = wholeCopy(s, s.At(c), dst)
	}
	return dst
}

// Without GRO every frame of every capture comes out as it went in.
func TestCapturesPassUnchanged(t *testing.T) {
	for _, cfg := range []Config{
		{NoGRO: true},
		{NoGRO: true, RX: rx.Config{MTU: 9000}},
	} {
		var frames []nic.Frame
		for _, path := range testenv.Captures(t) {
			list, _ := testenv.ReadCapture(path)
			for _, f := range list {
				if len(f.Data) > 0 && len(f.Data) <= 1514 && len(frames) < 20000 {
					frames = append(frames, nic.Frame{Data: f.Data, Link: header.LinkEthernet})
				}
			}
		}
		p, err := Open("nic:", cfg)
		if err != nil {
			t.Fatal(err)
		}
		p.Device().Set(nic.VLANStrip, false)
		p.Plug(&nic.Frames{List: frames})
		ctx, cancel := context.WithCancel(context.Background())
		next := 0
		var got []byte
		err = p.Run(ctx, func(b *packet.Batch) {
			for i := range b.Len() {
				got = wholeCopy(b.Slab(), b.At(i), got[:0])
				if !bytes.Equal(got, frames[next].Data) {
					t.Fatalf("frame %d differs: %d bytes, want %d",
						next, len(got), len(frames[next].Data))
				}
				if next++; next == len(frames) {
					cancel()
				}
			}
		})
		if err != nil || next != len(frames) {
			t.Errorf("%d of %d frames, %v", next, len(frames), err)
		}
		if err := p.Close(); err != nil {
			t.Error(err)
		}
	}
}
