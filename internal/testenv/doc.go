// Package testenv tells a test what the machine offers: root, the shared
// golden data, a seed. A test that cannot run skips through it, with the
// reason; with REQUIRE_ROOT=1 a root test fails instead.
//
//	SEED=n          run a random test again
//	SEEDS=n         how many seeds a simulation runs
//	REQUIRE_ROOT=1  a root test that cannot run fails
//
// The trap: a test that skips by itself looks like one that passed. That is
// why tests skip here and nowhere else (internal/tidy).
package testenv
