package counter

import "testing"

func TestAll(t *testing.T) {
	l := List{{"a", 1}, {"b", 2}, {"c", 3}}
	got := ""
	sum := uint64(0)
	for name, value := range All(l) {
		got += name
		if sum += value; name == "b" {
			break
		}
	}
	if got != "ab" || sum != 3 {
		t.Errorf("%q, %d", got, sum)
	}
}
