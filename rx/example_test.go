package rx_test

import (
	"fmt"

	"github.com/millrace-net/millrace/rx"
)

// What a queue will be is known before it is opened.
func ExampleConfig_Plan() {
	for _, mtu := range []int{1500, 9000} {
		p, err := rx.Config{MTU: mtu}.Plan()
		if err != nil {
			fmt.Println(err)
			return
		}
		fmt.Printf("MTU %d: linear %v, %d WQEs of %d strides of %d bytes\n",
			mtu, p.Linear, p.WQEs, p.Strides, p.StrideBytes)
	}
	_, err := rx.Config{Entries: 1000}.Plan()
	fmt.Println(err)
	// Output:
	// MTU 1500: linear true, 8 WQEs of 128 strides of 2048 bytes
	// MTU 9000: linear false, 64 WQEs of 1024 strides of 256 bytes
	// rx: Entries is 1000, want a power of two, 8 to 8192
}
