package explain

import "testing"

func TestChange(t *testing.T) {
	for _, tt := range []struct{ before, after, want string }{
		{"abcdef", "abcdef", ""},
		{"", "", ""},
		{"abcdef", "abXYef", "bytes at 2: 2 rewritten"},
		{"abcdef", "Xbcdef", "bytes at 0: 1 rewritten"},
		{"abcdef", "abef", "bytes at 2: 2 taken out"},
		{"abcdef", "cdef", "bytes at 0: 2 taken out"},
		{"abcdef", "abcd", "bytes at 4: 2 taken out"},
		{"abcdef", "", "bytes at 0: 6 taken out"},
		{"abcdef", "abXYcdef", "bytes at 2: 2 put in"},
		{"abcdef", "XYabcdef", "bytes at 0: 2 put in"},
		{"aaa", "aaaa", "bytes at 3: 1 put in"},
		{"aaaa", "aaa", "bytes at 3: 1 taken out"},
		{"abcdef", "aXYZef", "bytes at 1: 3 rewritten"},
		{"abcdef", "aXf", "bytes at 1: 4 became 1"},
	} {
		if got := change([]byte(tt.before), []byte(tt.after)); got != tt.want {
			t.Errorf("%q, %q: %q, want %q", tt.before, tt.after, got, tt.want)
		}
	}
}
