package testenv

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"testing"
	"time"
)

// NeedRoot skips the test when it does not run as root on Linux; with
// REQUIRE_ROOT=1 it fails.
func NeedRoot(t testing.TB) {
	t.Helper()
	if runtime.GOOS != "linux" || os.Geteuid() != 0 {
		Unavailable(t, "needs root on Linux")
	}
}

// Unavailable ends a root test whose machine lacks something: it skips with
// the reason, or fails with REQUIRE_ROOT=1.
func Unavailable(t testing.TB, reason string) {
	t.Helper()
	if os.Getenv("REQUIRE_ROOT") == "1" {
		t.Fatalf("REQUIRE_ROOT=1, but: %s", reason)
	}
	t.Skip(reason)
}

// Shared returns the path of a file or directory of the shared data that lies
// beside the repository, and skips the test where it is missing.
func Shared(t testing.TB, elem ...string) string {
	t.Helper()
	dir := filepath.Join(append([]string{Root(), "..", "shared"}, elem...)...)
	if _, err := os.Stat(dir); err != nil {
		t.Skipf("needs the shared data: %v", err)
	}
	return dir
}

// Root is the top directory of the repository.
func Root() string {
	_, file, _, _ := runtime.Caller(0)
	return filepath.Join(filepath.Dir(file), "..", "..")
}

// Seed returns the seed of a random test: SEED from the environment, else one
// from the clock. It is logged, so that a failure can be run again.
func Seed(t testing.TB) uint64 {
	t.Helper()
	seed := uint64(time.Now().UnixNano())
	if s := os.Getenv("SEED"); s != "" {
		v, err := strconv.ParseUint(s, 0, 64)
		if err != nil {
			t.Fatalf("SEED=%q: want a whole number", s)
		}
		seed = v
	}
	t.Logf("SEED=%d", seed)
	return seed
}

// Rand returns a generator for one case of a seeded test.
func Rand(seed, stream uint64) *rand.Rand { return rand.New(rand.NewPCG(seed, stream)) }

// Seeds is the number of seeds a simulation runs: n, a tenth of it with -short,
// or SEEDS from the environment. SEED set means just that one.
func Seeds(n int) int {
	if os.Getenv("SEED") != "" {
		return 1
	}
	if v, err := strconv.Atoi(os.Getenv("SEEDS")); err == nil && v > 0 {
		return v
	}
	if testing.Short() {
		return max(1, n/10)
	}
	return n
}
