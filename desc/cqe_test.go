package desc

import (
	"encoding/hex"
	"strings"
	"testing"
)

// cqeOf reads 64 bytes written as hex with spaces.
func cqeOf(t testing.TB, s string) *CQE {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil || len(b) != 64 {
		t.Fatalf("%d bytes, %v", len(b), err)
	}
	return (*CQE)(b)
}

// A tunneled TCP segment in a striding queue, by the byte map of
// facts/mlx5e.md 2.1: nothing but literal bytes.
const plainCQE = `
	01 00 1234 40 3f 7210 89abcdef deadbeef
	44 80 0000 beef 0000 00000000 07 49 6064
	03 000000 00000004 00000000 0024 2336
	0000018bcfe56800 00abcdef 03f0 00 20`

func TestCQEFields(t *testing.T) {
	c := cqeOf(t, plainCQE)
	for _, f := range []struct {
		name      string
		got, want any
	}{
		{"Tunneled", c.Tunneled(), true},
		{"WQEID", c.WQEID(), uint16(0x1234)},
		{"LROPush", c.LROPush(), true},
		{"LROMinTTL", c.LROMinTTL(), uint8(63)},
		{"LROWindow", c.LROWindow(), uint16(0x7210)},
		{"LROAck", c.LROAck(), uint32(0x89abcdef)},
		{"LROSegs", c.LROSegs(), uint8(3)},
		{"Hash", c.Hash(), uint32(0xdeadbeef)},
		{"HashType", c.HashType(), HashIPv4 | HashTCP},
		{"CEMark", c.CEMark(), true},
		{"CheckSum", c.CheckSum(), uint16(0xbeef)},
		{"Verdict", c.Verdict(), L2OK | L3OK | L4OK},
		{"VLANStripped", c.HdrType().VLANStripped(), true},
		{"L3", c.HdrType().L3(), HdrIPv4},
		{"L4", c.HdrType().L4(), HdrTCPAckData},
		{"VLAN", c.VLAN(), uint16(0x6064)},
		{"FlowMeta", c.FlowMeta(), uint32(4)},
		{"Strides", c.ByteCount().Strides(), uint16(36)},
		{"Bytes", c.ByteCount().Bytes(), uint16(9014)},
		{"Filler", c.ByteCount().Filler(), false},
		{"Timestamp", c.Timestamp(), uint64(1700000000000)},
		{"FlowTag", c.FlowTag(), uint32(0xabcdef)},
		{"WQECounter", c.WQECounter(), uint16(0x3f0)},
		{"Signature", c.Signature(), uint8(0)},
		{"OpOwn", c.OpOwn(), uint8(0x20)},
	} {
		if f.got != f.want {
			t.Errorf("%s is %v, want %v", f.name, f.got, f.want)
		}
	}
}

// copyFields writes every field of src into dst through the setters.
func copyFields(dst, src *CQE) {
	dst.SetTunneled(src.Tunneled())
	dst.SetWQEID(src.WQEID())
	dst.SetLROPush(src.LROPush())
	dst.SetLROMinTTL(src.LROMinTTL())
	dst.SetLROWindow(src.LROWindow())
	dst.SetLROAck(src.LROAck())
	dst.SetLROSegs(src.LROSegs())
	dst.SetHash(src.Hash())
	dst.SetHashType(src.HashType())
	dst.SetCEMark(src.CEMark())
	dst.SetCheckSum(src.CheckSum())
	dst.SetVerdict(src.Verdict())
	dst.SetHdrType(src.HdrType())
	dst.SetVLAN(src.VLAN())
	dst.SetFlowMeta(src.FlowMeta())
	dst.SetByteCount(src.ByteCount())
	dst.SetTimestamp(src.Timestamp())
	dst.SetFlowTag(src.FlowTag())
	dst.SetWQECounter(src.WQECounter())
	dst.SetOpOwn(src.OpOwn())
}

func TestCQESetters(t *testing.T) {
	src, dst := cqeOf(t, plainCQE), new(CQE)
	copyFields(dst, src)
	if *dst != *src {
		t.Errorf("written\n% x\nwant\n% x", *dst, *src)
	}
}

// What a device may write, made up or not, is read without a panic and put
// back as it was, but for bits without a field.
func FuzzCQE(f *testing.F) {
	f.Add(cqeOf(f, plainCQE)[:])
	f.Fuzz(func(t *testing.T, b []byte) {
		var c, once, twice CQE
		copy(c[:], b)
		copyFields(&once, &c)
		copyFields(&twice, &once)
		if once != twice {
			t.Errorf("% x\nread and written again\n% x", once, twice)
		}
		for i := range MinisPerSlot {
			m := *c.Mini(i)
			m.SetByteCount(m.ByteCount())
			m.SetHash(m.Hash())
			if m != *c.Mini(i) {
				t.Errorf("mini %d: % x became % x", i, *c.Mini(i), m)
			}
		}
		_ = c.Syndrome().String()
	})
}

func TestByteCount(t *testing.T) {
	for _, test := range []struct {
		name string
		got  ByteCount
		want uint32
	}{
		{"1514 B in one stride of 2048", PackByteCount(1, 1514), 0x000105ea},
		{"9014 B in 36 strides of 256", PackByteCount(36, 9014), 0x00242336},
		{"filler behind 28 of them: 16 strides of 1024", FillerByteCount(1024 - 28*36), 0x80100000},
		{"cyclic", PackByteCount(0, 1514), 0x000005ea},
		{"all strides", PackByteCount(0xffff, 0), 0x7fff0000},
	} {
		if uint32(test.got) != test.want {
			t.Errorf("%s: %#08x, want %#08x", test.name, test.got, test.want)
		}
	}
	if f := FillerByteCount(16); !f.Filler() || f.Strides() != 16 || f.Bytes() != 0 {
		t.Errorf("filler reads %v, %d strides, %d bytes", f.Filler(), f.Strides(), f.Bytes())
	}
}

func TestErrorCQE(t *testing.T) {
	var c CQE
	c.SetSyndrome(LocalProt, 0x32)
	c.SetWQECounter(7)
	c.SetOpOwn(uint8(OpRespErr) << 4)
	want := CQE{54: 0x32, 55: 0x04, 61: 7, 63: 0xe0}
	if c != want {
		t.Errorf("written\n% x\nwant\n% x", c, want)
	}
	if c.Syndrome() != LocalProt || c.VendorSyndrome() != 0x32 {
		t.Errorf("reads %v, vendor %#x", c.Syndrome(), c.VendorSyndrome())
	}
}

func TestSyndromes(t *testing.T) {
	recover := map[Syndrome]bool{LocalQPOp: true, LocalProt: true, WRFlush: true}
	for s := range syndromeTexts {
		if s.NeedsRecovery() != recover[s] {
			t.Errorf("%v: recovery %v, want %v", s, s.NeedsRecovery(), recover[s])
		}
	}
	if len(syndromeTexts) != 13 || Syndrome(0x99).String() != "syndrome 0x99" {
		t.Errorf("%d syndromes, 0x99 is %q", len(syndromeTexts), Syndrome(0x99))
	}
}

func TestMini(t *testing.T) {
	var c CQE
	c.Mini(0).SetHash(0x01020304)
	c.Mini(1).SetCheckSum(0xbeef)
	c.Mini(1).SetStride(0x0203)
	c.Mini(1).SetByteCount(PackByteCount(1, 1514))
	c.Mini(2).SetFlowTag(0xcdef)
	c.Mini(3).SetHdrType(HdrIPv4 | HdrUDP)
	c.Mini(7).SetByteCount(FillerByteCount(16))
	want := cqeOf(t, `01020304 00000000 beef0203 000105ea cdef0000 00000000 00280000 00000000
		00000000 00000000 00000000 00000000 00000000 00000000 00000000 80100000`)
	if c != *want {
		t.Errorf("written\n% x\nwant\n% x", c, *want)
	}
	m := c.Mini(1)
	if m.CheckSum() != 0xbeef || m.Stride() != 0x203 || m.ByteCount() != 0x000105ea ||
		c.Mini(2).FlowTag() != 0xcdef || c.Mini(3).HdrType() != HdrIPv4|HdrUDP {
		t.Error("minis read other than written")
	}
	for f, stride := range map[MiniFormat]bool{
		MiniHash: false, MiniCSum: false, MiniFlowStride: true, MiniCSumStride: true,
		MiniL3L4Stride: true,
	} {
		if f.HasStride() != stride {
			t.Errorf("format %d: stride index %v", f, !stride)
		}
	}
}
