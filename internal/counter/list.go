package counter

import "iter"

// A List is counters in the order in which they are shown. Its elements have no
// name, so that they can be written without keys.
type List = []struct {
	Name  string
	Value uint64
}

// All gives each counter in order.
func All(l List) iter.Seq2[string, uint64] {
	return func(yield func(string, uint64) bool) {
		for _, c := range l {
			if !yield(c.Name, c.Value) {
				return
			}
		}
	}
}
