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
	usual := 70
	if testing.Short() {
		usual = 7
	}
	for env, want := range map[string]int{"": usual, "10000": 10000, "-1": usual, "x": usual} {
		t.Setenv("SEEDS", env)
		if got := Seeds(70); got != want {
			t.Errorf("SEEDS=%q gives %d, want %d", env, got, want)
		}
	}
}
