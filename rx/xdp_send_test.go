package rx

import (
	"bytes"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/xdp"
)

// told, not what page or buffer begins at.
func TestXDPEcho(t *testing.T) {
	for name, cfg := range layouts {
		r := newXDPRig(t, cfg, func(b *xdp.Buff) xdp.Verdict {
			mac := make([]byte, 12)
			if !b.Load(0, mac) || !b.Store(0, append(mac[6:], mac[:6]...)) {
				t.Error("refused")
			}
			return xdp.Tx
		})
		var want [][]byte
		for i := range 40 {
			f := tcpFrame(60 + i*30)
			for k := range 12 {
				f[k] = byte(k)
			}
			r.receive(f)
			copy(f, []byte{6, 7, 8, 9, 10, 11, 0, 1, 2, 3, 4, 5})
			want = append(want, f)
		}
		for i, got := range r.sent() {
			if !bytes.Equal(got, want[i]) {
				t.Fatalf("%s: frame %d differs", name, i)
			}
		}
		s := r.q.Stats()
		if s.XDPTx != 40 || s.XDPSend.Xmit != 40 || s.XDPSend.Done != 40 || s.XDPSend.CQEs != 40 {
			t.Errorf("%s: %+v", name, s.XDPSend)
		}
	}
}

// refused (facts/mlx5e.md 6.1; 12, bug 16).
func TestXDPSendFull(t *testing.T) {
	cfg := Config{XDP: xdp.Config{Send: xdp.SendConfig{Blocks: 64}}}
	r := newXDPRig(t, cfg, send)
	for range 100 {
		r.receive(tcpFrame(60))
	}
	s := r.q.Stats()
	if s.XDPTx != 64 || s.XDPDrop != 36 || s.XDPAborted != 36 || s.XDPSend.Full != 36 {
		t.Errorf("%+v", s)
	}
	if k := r.q.Books(); k.Sending != 64 {
		t.Errorf("%+v", k)
	}
	if got := len(r.sent()); got != 64 {
		t.Errorf("%d frames left", got)
	}
	if k := r.q.Books(); k.Sending != 0 || k.Held != 0 {
		t.Errorf("%+v", k)
	}
}

// bugs 27, 29 and 31): the end of the test checks maps and pages.
func TestXDPCloseWhileSending(t *testing.T) {
	for _, cfg := range layouts {
		r := newXDPRig(t, cfg, send)
		for range 20 {
			r.receive(tcpFrame(700))
		}
		r.q.stop()
		r.q.stop()
		law(t, r.q)
		if k := r.q.Books(); k.Sending < 20 || k.Side != 0 {
			t.Errorf("%+v", k)
		}
	}
}

// side page are out (facts/mlx5e.md 12, bug 54).
func TestXDPRestart(t *testing.T) {
	n := 0
	r := newXDPRig(t, Config{MTU: 9000, XDP: xdp.Config{Frags: true}},
		func(b *xdp.Buff) xdp.Verdict {
			n++
			b.PullData(300)
			return []xdp.Verdict{xdp.Pass, xdp.Tx}[n%2]
		})
	for range 40 {
		held := r.receive(tcpFrame(5000), tcpFrame(400), tcpFrame(5000))
		copies := [][]byte{contents(held, 0)}
		r.q.rq.Modify(desc.Ready, desc.Error)
		r.d.fail(desc.LocalProt)
		r.d.plain()
		b := receive(t, r.q)
		r.q.Free(b)
		if !bytes.Equal(contents(held, 0), copies[0]) {
			t.Error("a packet changed when the queue restarted")
		}
		r.sent()
		r.q.Free(held)
	}
	if s := r.q.Stats(); s.Recover != 40 || s.XDPTx+s.Delivered != 120 {
		t.Errorf("%+v", s)
	}
}
