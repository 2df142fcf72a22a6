package packet

import (
	"fmt"
	"reflect"
	"testing"

	"github.com/millrace-net/millrace/mem"
)

// offset is where a field lies in a type.
func offset[T any](t *testing.T, name string) int {
	t.Helper()
	f, ok := reflect.TypeFor[T]().FieldByName(name)
	if !ok {
		t.Fatalf("no field %s", name)
	}
	return int(f.Offset)
}

func TestSizesAndOffsets(t *testing.T) {
	for what, c := range map[string]struct{ got, want int }{
		"Packet":               {int(reflect.TypeFor[Packet]().Size()), 128},
		"SharedInfo":           {int(reflect.TypeFor[SharedInfo]().Size()), 320},
		"Frag":                 {int(reflect.TypeFor[Frag]().Size()), 12},
		"GSO":                  {int(reflect.TypeFor[GSO]().Size()), 16},
		"Packet.Net":           {offset[Packet](t, "Net"), 64},
		"SharedInfo.GSO":       {offset[SharedInfo](t, "GSO"), 12},
		"SharedInfo.Frags":     {offset[SharedInfo](t, "Frags"), 28},
		"fragments":            {len(SharedInfo{}.Frags), 17},
		"small head":           {headBytes, 640},
		"small head, multiple": {headBytes % 64, 0},
	} {
		if c.got != c.want {
			t.Errorf("%s is %d, want %d", what, c.got, c.want)
		}
	}
}

// The collector must find nothing to scan in packets and what hangs on them.
func TestNoPointers(t *testing.T) {
	var walk func(reflect.Type) error
	walk = func(typ reflect.Type) error {
		switch typ.Kind() {
		case reflect.Struct:
			for field := range typ.Fields() {
				if err := walk(field.Type); err != nil {
					return fmt.Errorf("%s: %w", field.Name, err)
				}
			}
			return nil
		case reflect.Array:
			return walk(typ.Elem())
		}
		if k := typ.Kind(); k < reflect.Bool || k > reflect.Float64 || k == reflect.Uintptr {
			return fmt.Errorf("a %s", k)
		}
		return nil
	}
	for _, typ := range []reflect.Type{reflect.TypeFor[Packet](), reflect.TypeFor[SharedInfo]()} {
		if err := walk(typ); err != nil {
			t.Errorf("%s: %v", typ, err)
		}
	}
}

// SharedInfo lies behind the head buffer, and writing all of it touches
// nothing else of the page.
func TestSharedInfoLiesInTheTailroom(t *testing.T) {
	r := openPages(t, 4096, 1)
	page := r.Ref(0)
	b := page.Bytes(0, 4096)
	for i := range b {
		b[i] = 0xAA
	}
	p := &Packet{Head: page, Start: 1024, Room: 704, Data: 64, Linear: 600, HeadKind: HeadPage}
	s := p.Shared()
	*s = SharedInfo{NumFrags: 0x11111111, Chain: 0x11111111, Last: 0x11111111}
	for i := range s.Frags {
		s.Frags[i] = Frag{Ref: 0x11111111, Off: 0x11111111, Len: 0x11111111}
	}
	for i, got := range b {
		inside := i >= 1024+704 && i < 1024+704+SharedBytes
		if !inside && got != 0xAA {
			t.Fatalf("byte %d was written, SharedInfo is %d to %d", i, 1728, 1728+SharedBytes)
		}
	}
	if got := b[1728]; got != 0x11 {
		t.Errorf("NumFrags is not at the end of the head buffer: %#x", got)
	}
	if got := b[1728+28+17*12-1]; got != 0x11 {
		t.Errorf("the last fragment does not end at byte 232: %#x", got)
	}
	if got := len(p.Bytes()); got != 600 || cap(p.Bytes()) != 600 {
		t.Errorf("linear part of %d bytes with room for %d, want 600", got, cap(p.Bytes()))
	}
}

func TestAccessBehindThePagePanics(t *testing.T) {
	r := openPages(t, 4096, 1)
	for what, call := range map[string]func(){
		"SharedInfo across the end": func() {
			(&Packet{Head: r.Ref(0), Start: 3072, Room: 768}).Shared()
		},
		"linear part across the end": func() {
			(&Packet{Head: r.Ref(0), Start: 4000, Data: 64, Linear: 64}).Bytes()
		},
		"fragment across the end": func() { Frag{r.Ref(0), 4095, 2}.Bytes() },
		"fragment of no page":     func() { Frag{Ref: mem.None, Len: 1}.Bytes() },
	} {
		if !panics(call) {
			t.Errorf("%s: no panic", what)
		}
	}
}

func openPages(t testing.TB, pageBytes, n int) *mem.Region {
	t.Helper()
	r, err := mem.Open(mem.Config{PageBytes: pageBytes, Pages: n, Kind: mem.Heap})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { r.Close() })
	return r
}

func panics(call func()) (yes bool) {
	defer func() { yes = recover() != nil }()
	call()
	return
}
