package pagepool

import (
	"errors"
	"sync"
)

// ErrTooManyPools: all 65,535 pool numbers are in use.
var ErrTooManyPools = errors.New("pagepool: 65535 pools are open; close one first")

var numbers struct {
	sync.Mutex
	used [1 << 16]bool
	last uint16
}

// takeNumber gives the next free number, going round, so that one that was
// freed is not seen again soon.
func takeNumber() (uint16, error) {
	numbers.Lock()
	defer numbers.Unlock()
	for range len(numbers.used) {
		numbers.last++
		if n := numbers.last; n != 0 && !numbers.used[n] {
			numbers.used[n] = true
			return n, nil
		}
	}
	return 0, ErrTooManyPools
}

func freeNumber(n uint16) {
	numbers.Lock()
	defer numbers.Unlock()
	numbers.used[n] = false
}
