package testenv

import (
	"os"
	"path/filepath"
	"testing"
)

func TestRootHoldsTheModule(t *testing.T) {
	if _, err := os.Stat(filepath.Join(Root(), "go.work")); err != nil {
		t.Error(err)
	}
}

func TestSeedIsReadBack(t *testing.T) {
	t.Setenv("SEED", "0x2a")
	if got := Seed(t); got != 42 {
		t.Errorf("SEED=0x2a gives %d", got)
	}
	if got := Seeds(1000); got != 1 {
		t.Errorf("SEED runs %d seeds, want that one", got)
	}
	if a, b := Rand(42, 0).Uint64(), Rand(42, 0).Uint64(); a != b {
		t.Error("one seed, two sequences")
	}
	if a, b := Rand(42, 0).Uint64(), Rand(42, 1).Uint64(); a == b {
		t.Error("two streams, one sequence")
	}
}

func TestSeedsFromTheEnvironment(t *testing.T) {
	t.Setenv("SEED", "")
	for env, want := range map[string]int{"": 7, "10000": 10000, "-1": 7, "x": 7} {
		t.Setenv("SEEDS", env)
		if got := Seeds(7); got != want {
			t.Errorf("SEEDS=%q gives %d, want %d", env, got, want)
		}
	}
}
