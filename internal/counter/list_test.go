package counter

import (
	"slices"
	"testing"
)

func TestAll(t *testing.T) {
	var got []string
	sum := uint64(0)
	for name, value := range All(List{{"a", 1}, {"b", 2}, {"c", 3}}) {
		got = append(got, name)
		if sum += value; name == "b" {
			break
		}
	}
	if !slices.Equal(got, []string{"a", "b"}) || sum != 3 {
		t.Errorf("%q, %d", got, sum)
	}
}
