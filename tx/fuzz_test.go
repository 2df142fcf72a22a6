package tx

import (
	"encoding/binary"
	"testing"

	"github.com/millrace-net/millrace/desc"
	"github.com/millrace-net/millrace/dma"
	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/packet"
)

// FuzzPost posts packets that may say anything of themselves. Each is refused,
// and counted, or leaves in frames the device finds its way through; the queue
// stays usable.
func FuzzPost(f *testing.F) {
	for _, k := range kinds() {
		g := k.gso
		wish := []byte{3, 0, 0, 0, 0, 2, 0, 100, byte(g.HdrLen), byte(g.CSumStart),
			byte(g.CSumOffset), byte(g.Type), byte(g.Flags >> 8), byte(g.Flags), 2, 10, 10, 0}
		f.Add(uint16(0), append(wish, k.head...))
	}
	f.Add(uint16(0x1234), []byte{0, 0, 0x81, 0, 5, 18, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 2, 3})
	f.Fuzz(func(t *testing.T, how uint16, b []byte) {
		if len(b) < 18 || len(b) > 1000 {
			return
		}
		cfg := Config{
			Blocks: 64, BufBytes: 64 << (how % 6), MTU: 1600,
			Without:   Offload(how>>3) & allOffloads,
			MinInline: desc.MinInline(how>>8) % 4, Copybreak: copybreaks[how>>10%8],
		}
		if most, _ := limitOf(cfg); cfg.Copybreak.Bytes > most {
			cfg.Copybreak.Bytes = most
		}
		r := newRig(t, cfg, dma.Config{Mode: dma.Bounce, Poison: true})
		i, p := r.blank(len(b) - 18)
		wishes(r, p, b)
		posted := r.q.Check(r.slab, p) == nil
		r.put(i)
		for k := 0; k < 5000 && (k == 0 || r.q.InFlight() > 0); k++ {
			r.post()
			r.dev.step(1 << 20)
			r.reap()
		}
		s := r.q.Stats()
		if s.Posted+s.Dropped != 1 || s.Done != s.Posted || (s.Done == 1) != posted || r.home != 1 {
			t.Errorf("Check passes it: %v, %+v", posted, s)
		}
		r.dev.sent = nil
		want := [][]byte{r.add(60, 100)}
		r.turn()
		r.same("behind it", want)
		r.close()
	})
}

// wishes has the packet ask for what 18 bytes say; the rest are its head.
func wishes(r *rig, p *packet.Packet, b []byte) {
	copy(p.Bytes(), b[18:])
	p.CSumKind, p.Link = packet.CSum(b[0]%4), header.LinkType(b[1]&1&(b[1]>>4))
	p.TagType, p.TagTCI = binary.BigEndian.Uint16(b[2:]), uint16(b[4])
	s := p.Shared()
	*s = packet.SharedInfo{NumFrags: uint32(b[5]), GSO: packet.GSO{
		Size: binary.BigEndian.Uint16(b[6:]), HdrLen: uint16(b[8]), CSumStart: uint16(b[9]),
		CSumOffset: uint16(b[10]), Type: packet.GSOType(b[11]),
		Flags: packet.GSOFlags(binary.BigEndian.Uint16(b[12:])),
	}}
	for k := range min(b[5], packet.MaxFrags) {
		s.Frags[k] = r.frag(int(b[14])*int(b[15]) + int(k)*int(b[16]))
		p.Len += s.Frags[k].Len
	}
	if b[17] == 1 {
		p.Len++ // a lie
	}
	if b[17] == 2 {
		p.Flags = packet.FlagLRO
	}
}

// limitOf is the most bytes of the Copybreak in a queue of 64 blocks.
func limitOf(cfg Config) (int, string) {
	switch cfg.Copybreak.Way {
	case Inline:
		return 476, ""
	case Premapped:
		return cfg.BufBytes, ""
	case Linearize:
		return linearBytes, ""
	}
	return 0, ""
}
