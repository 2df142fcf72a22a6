package bpf

import (
	"bytes"
	"encoding/binary"
	"slices"
	"strings"
	"testing"

	"github.com/cilium/ebpf"
	"github.com/cilium/ebpf/asm"

	"github.com/millrace-net/millrace/header"
	"github.com/millrace-net/millrace/internal/testenv"
)

// frame is an Ethernet frame with bytes that tell where they were.
func frame(etherType uint16, payload ...byte) []byte {
	f := []byte{2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2}
	return append(binary.BigEndian.AppendUint16(f, etherType), payload...)
}

// udp4 is a UDP datagram over IPv4 with option bytes, udp6 one over IPv6.
func udp4(port uint16, options int, fragment uint16) []byte {
	ip := make([]byte, 20+options+8)
	ip[0], ip[9] = byte(0x45+options/4), 17
	binary.BigEndian.PutUint16(ip[6:], fragment)
	binary.BigEndian.PutUint16(ip[20+options+2:], port)
	return frame(header.TypeIPv4, ip...)
}

func udp6(port uint16) []byte {
	ip := make([]byte, 40+8)
	ip[0], ip[6] = 0x60, 17
	binary.BigEndian.PutUint16(ip[40+2:], port)
	return frame(header.TypeIPv6, ip...)
}

func TestDropUDPPort(t *testing.T) {
	p := open(t, "testdata/drop_udp_port.bpf.o")
	tcp := udp4(53, 0, 0)
	tcp[14+9] = 6
	for _, tt := range []struct {
		name  string
		frame []byte
		want  Outcome
	}{
		{"DNS", udp4(53, 0, 0), Drop},
		{"DNS behind options", udp4(53, 40, 0), Drop},
		{"DNS over IPv6", udp6(53), Drop},
		{"another port", udp4(54, 0, 0), Pass},
		{"another port, IPv6", udp6(5353), Pass},
		{"later fragment", udp4(53, 0, 185), Pass},
		{"first fragment", udp4(53, 0, 0x2000), Drop},
		{"TCP", tcp, Pass},
		{"cut in the UDP header", udp4(53, 0, 0)[:14+20+7], Pass},
		{"cut in the IPv4 header", udp4(53, 0, 0)[:14+19], Pass},
		{"nothing but Ethernet", frame(header.TypeIPv4), Pass},
	} {
		before := slices.Clone(tt.frame)
		got, after, err := p.Run(header.LinkEthernet, tt.frame)
		if got != tt.want || err != nil || !bytes.Equal(after, before) {
			t.Errorf("%s: %v, %x, %v, want %v, %x", tt.name, got, after, err, tt.want, before)
		}
	}
	var dropped uint64
	if err := p.loaded.Maps["dropped"].Lookup(uint32(0), &dropped); err != nil || dropped != 4 {
		t.Errorf("the program counted %d, %v, want 4", dropped, err)
	}
	if want := (Stats{Drop: 4, Pass: 7}); p.Stats() != want || p.Notes() != nil {
		t.Errorf("counted %v, %q, want %v and nothing to note", p.Stats(), p.Notes(), want)
	}
}

func TestRewrites(t *testing.T) {
	long := bytes.Repeat([]byte("payload."), 1000)
	untagged := frame(header.TypeIPv4, long...)
	tagged := slices.Concat(untagged[:12], []byte{0x81, 0, 0, 7}, untagged[12:])
	back := slices.Concat(untagged[6:12], untagged[:6], untagged[12:])
	for _, tt := range []struct {
		program   string
		in, after []byte
		want      Outcome
	}{
		{"pop_vlan", tagged[:64], untagged[:60], Pass},
		{"pop_vlan", untagged[:60], untagged[:60], Pass},
		{"pop_vlan", tagged, untagged, Pass}, // several buffers
		{"pop_vlan", tagged[:14], tagged[:14], Pass},
		{"reflect", untagged[:60], back[:60], Tx},
		{"reflect", untagged, back, Tx},
	} {
		p := open(t, "testdata/rewrite.bpf.o:"+tt.program)
		got, after, err := p.Run(header.LinkEthernet, tt.in)
		if got != tt.want || err != nil || !bytes.Equal(after, tt.after) {
			t.Errorf("%s of %d bytes: %v, %d bytes, %v, want %v, %d bytes", tt.program,
				len(tt.in), got, len(after), err, tt.want, len(tt.after))
		}
	}
}

// assembled loads a program of code.
func assembled(t *testing.T, flags uint32, code ...asm.Instruction) *Program {
	t.Helper()
	needBPF(t)
	spec := xdpProgram(code...)
	spec.Flags = flags
	p, err := load(&ebpf.CollectionSpec{
		Programs: map[string]*ebpf.ProgramSpec{"main": spec}}, "main")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(p.Close)
	return p
}

func TestVerdicts(t *testing.T) {
	in := make([]byte, 60)
	for o := range NumOutcomes {
		p := assembled(t, 0, verdict(o)...)
		want := min(o, Invalid)
		if got, _, err := p.Run(header.LinkEthernet, in); got != want || err != nil {
			t.Errorf("%v, %v, want %v", got, err, want)
		}
		if p.Stats()[want] != 1 || (len(p.Notes()) == 1) != (want == Invalid) {
			t.Errorf("%v: counted %v, %q", want, p.Stats(), p.Notes())
		}
		if want.Passes() != (want == Pass) || !want.Ran() {
			t.Errorf("%v: passes %v, ran %v", want, want.Passes(), want.Ran())
		}
	}
}

// adjusted is a program that calls a helper with (ctx, delta), and passes the
// frame if it succeeds.
func adjusted(f asm.BuiltinFunc, delta int32) asm.Instructions {
	return asm.Instructions{
		asm.Mov.Imm(asm.R2, delta),
		f.Call(),
		asm.JNE.Imm(asm.R0, 0, "failed"),
		asm.Mov.Imm(asm.R0, int32(Pass)),
		asm.Return(),
		asm.Mov.Imm(asm.R0, int32(Aborted)).WithSymbol("failed"),
		asm.Return(),
	}
}

// Head, tail and metadata move as far as the kernel lets them, and what comes
// back is the frame alone.
func TestAdjustments(t *testing.T) {
	in := frame(header.TypeIPv4, bytes.Repeat([]byte{7}, 46)...)
	most := linearBytes() - len(in)
	for _, tt := range []struct {
		name  string
		f     asm.BuiltinFunc
		delta int
		want  []byte
	}{
		{"metadata", asm.FnXdpAdjustMeta, -32, in},
		{"tail cut", asm.FnXdpAdjustTail, -20, in[:40]},
		{"tail grown", asm.FnXdpAdjustTail, most, append(slices.Clone(in), make([]byte, most)...)},
		{"head cut", asm.FnXdpAdjustHead, 14, in[14:]},
	} {
		p := assembled(t, 0, adjusted(tt.f, int32(tt.delta))...)
		o, after, err := p.Run(header.LinkEthernet, in)
		if o != Pass || err != nil || !bytes.Equal(after, tt.want) {
			t.Errorf("%s: %v, %v, %x, want %x", tt.name, o, err, after, tt.want)
		}
	}
	p := assembled(t, withFrags, adjusted(asm.FnXdpAdjustHead, -200)...)
	o, after, err := p.Run(header.LinkEthernet, make([]byte, p.limit))
	if o != Pass || err != nil || len(after) != p.limit+200 {
		t.Errorf("head grown: %v, %d bytes, %v", o, len(after), err)
	}
}

// The limits are those of the kernel, and a frame beyond them goes past the
// program as it is.
func TestLimits(t *testing.T) {
	one, many := assembled(t, 0, verdict(Drop)...), assembled(t, withFrags, verdict(Drop)...)
	for _, tt := range []struct {
		p    *Program
		link header.LinkType
		n    int
		want Outcome
		note string
	}{
		{one, header.LinkEthernet, 14, Drop, ""},
		{one, header.LinkEthernet, linearBytes(), Drop, ""},
		{one, header.LinkEthernet, linearBytes() + 1, NeedsFrags, `section "xdp.frags"`},
		{one, header.LinkEthernet, 13, TooShort, "shorter than 14 bytes"},
		{one, header.LinkEthernet, 0, TooShort, ""},
		{one, header.LinkRaw, 60, NotEthernet, "XDP sees Ethernet only"},
		{one, header.LinkOpaque, 60, NotEthernet, ""},
		{many, header.LinkEthernet, linearBytes() + 1, Drop, ""},
		{many, header.LinkEthernet, many.limit, Drop, ""},
		{many, header.LinkEthernet, many.limit + 1, TooLong, "the kernel's test run ends at"},
	} {
		in := make([]byte, tt.n)
		got, after, err := tt.p.Run(tt.link, in)
		if got != tt.want || err != nil || !bytes.Equal(after, in) {
			t.Errorf("link %d, %d bytes: %v, %d bytes, %v, want %v", tt.link, tt.n, got,
				len(after), err, tt.want)
		}
		if got.Ran() != (tt.want == Drop) || got.Passes() == got.Ran() {
			t.Errorf("%v: ran %v, passes %v", got, got.Ran(), got.Passes())
		}
		if !strings.Contains(strings.Join(tt.p.Notes(), "\n"), tt.note) {
			t.Errorf("%v: no %q in %q", got, tt.note, tt.p.Notes())
		}
	}
	if n := len(one.Notes()); n != 3 {
		t.Errorf("%d notes of three outcomes: %q", n, one.Notes())
	}
	if _, _, err := testRun(many.run, make([]byte, many.limit+1), many.out); err == nil {
		t.Error("the kernel takes longer frames than Limit")
	}
}

// What a program sees in one buffer is what linearBytes says: the program
// returns 2 (pass) if it sees as many bytes.
func TestLinearBytes(t *testing.T) {
	p := assembled(t, withFrags,
		asm.LoadMem(asm.R2, asm.R1, 0, asm.Word), // data
		asm.LoadMem(asm.R3, asm.R1, 4, asm.Word), // data_end
		asm.Sub.Reg(asm.R3, asm.R2),
		asm.Mov.Imm(asm.R0, int32(Pass)),
		asm.JEq.Imm(asm.R3, int32(linearBytes()), "exit"),
		asm.Mov.Imm(asm.R0, int32(Drop)),
		asm.Return().WithSymbol("exit"),
	)
	for _, n := range []int{linearBytes(), linearBytes() + 1, p.limit} {
		if o, _, err := p.Run(header.LinkEthernet, make([]byte, n)); o != Pass || err != nil {
			t.Errorf("%d bytes: %v, %v", n, o, err)
		}
	}
}

// Every frame of every capture runs, or goes past the program for a reason,
// and pop_vlan does what it is for.
func TestCaptures(t *testing.T) {
	paths := testenv.Captures(t)
	p := open(t, "testdata/rewrite.bpf.o:pop_vlan")
	var total uint64
	for i, path := range paths {
		if testing.Short() && i%8 != 0 {
			continue
		}
		frames, _ := testenv.ReadCapture(path) // frames before the damage, if any
		for _, f := range frames {
			link := header.LinkEthernet
			if f.Link != 1 {
				link = header.LinkOpaque
			}
			total++
			o, after, err := p.Run(link, f.Data)
			if err != nil || !o.Passes() || !bytes.Equal(after, popped(f.Data, o)) {
				t.Fatalf("%s: %v, %v: %x became %x", path, o, err, f.Data, after)
			}
		}
	}
	var counted uint64
	for _, n := range p.Stats() {
		counted += n
	}
	if counted != total {
		t.Errorf("counted %d of %d frames: %v", counted, total, p.Stats())
	}
	t.Logf("%d frames: %v", total, p.Stats())
}

// popped is what pop_vlan is to make of a frame.
func popped(f []byte, o Outcome) []byte {
	if !o.Ran() || len(f) < 16 {
		return f
	}
	if tpid := binary.BigEndian.Uint16(f[12:]); tpid != 0x8100 && tpid != 0x88a8 {
		return f
	}
	return slices.Concat(f[:12], f[16:])
}
