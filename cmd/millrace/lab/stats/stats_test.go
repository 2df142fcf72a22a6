package stats

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/millrace-net/millrace/internal/testenv"
)

func near(a, b float64) bool { return math.Abs(a-b) < 1e-4 }

// Known values: exact p of small samples (tables of the U test), order
// statistics of the sign test.
func TestKnownValues(t *testing.T) {
	a, b := []float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}
	if p := P(a, b); !near(p, 2.0/252) {
		t.Errorf("5 below 5: p = %v, want 2/252", p)
	}
	// U = 4 of 25: 12 of the 252 arrangements reach as far on one side.
	if p := P([]float64{1, 2, 3, 5, 8}, []float64{4, 6, 7, 9, 10}); !near(p, 24.0/252) {
		t.Errorf("U = 4: p = %v, want 24/252", p)
	}
	if p := P(a, a); p < 0.9 {
		t.Errorf("the same: p = %v", p)
	}
	// Of 12 values the third from both ends bound the median with 96 %.
	base, v := make([]float64, 12), make([]float64, 12)
	for i := range base {
		base[i], v[(i*5)%12] = 2, float64(2*(i+1))
	}
	got, err := Paired(base, v)
	if want := (Interval{6.5, 3, 10}); err != nil || got != want {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	got, err = Centre([]float64{0, 0, 0, 5, 9, 9, 9, 9, 9, 9, 9, 9}) // as above
	if want := (Interval{9, 0, 9}); err != nil || got != want {
		t.Errorf("%v, %v, want %v", got, err, want)
	}
	if m := Median([]float64{9, 1, 5}); m != 5 {
		t.Errorf("median %v", m)
	}
}

func TestRefused(t *testing.T) {
	ok := []float64{1, 1, 1, 1, 1, 1}
	for name, list := range map[string][]float64{
		"too few": ok[:5], "none": nil, "zero": {1, 1, 1, 1, 1, 0}, "negative": {1, 1, 1, 1, 1, -1},
		"not a number": {1, 1, 1, 1, 1, math.NaN()}, "infinite": {1, 1, 1, 1, 1, math.Inf(1)},
	} {
		if _, err := Paired(list, list); err == nil {
			t.Errorf("%s: taken", name)
		}
		if _, err := Separate(ok, list); err == nil {
			t.Errorf("%s: taken as a separate run", name)
		}
	}
	if _, err := Paired(ok, append(ok, 1)); err == nil {
		t.Error("6 and 7 rounds were paired")
	}
}

func TestJudge(t *testing.T) {
	for _, x := range []struct {
		ratio Interval
		p     float64
		want  Verdict
	}{
		{Interval{1.5, 1.4, 1.6}, 0.001, Faster},
		{Interval{0.8, 0.7, 0.9}, 0.001, Slower},
		{Interval{1.5, 1.4, 1.6}, 0.05, NoDifference},      // ranks overlap
		{Interval{1.5, 0.9, 1.6}, 0.001, NoDifference},     // the interval has 1
		{Interval{1.01, 1.005, 1.02}, 0.001, NoDifference}, // below the threshold
		{Interval{0.99, 0.98, 0.995}, 0.001, NoDifference},
	} {
		if got := Judge(x.ratio, x.p, 0.02); got != x.want {
			t.Errorf("%+v: %s, want %s", x, got, x.want)
		}
	}
	if got := Threshold(Interval{1, 0.97, 1.02}); !near(got, 0.03) {
		t.Errorf("threshold %v", got)
	}
	if got := Threshold(Interval{1, 0.999, 1.001}); got != MinThreshold {
		t.Errorf("threshold %v", got)
	}
	if got := Detectable(Interval{1, 0.9, 1.1}, 0.01); !near(got, 0.142857) {
		t.Errorf("detectable %v", got)
	}
}

// series is n rounds of a machine whose speed wanders by a few percent, slowly,
// and of a program that is faster by gain.
func series(rng *rand.Rand, n int, gain float64) (base, variant []float64) {
	speed := 100.0
	for range n {
		speed *= 1 + 0.02*rng.NormFloat64()
		base = append(base, speed*(1+0.005*rng.NormFloat64()))
		variant = append(variant, gain*speed*(1+0.005*rng.NormFloat64()))
	}
	return base, variant
}

// An interval of 95 % misses the truth at most once in twenty; a program that
// did not change is called different more rarely than that; one that is 10 %
// faster is found.
func TestCoverage(t *testing.T) {
	rng := testenv.Rand(testenv.Seed(t), 0)
	const runs = 2000
	missed, wrong, found := 0, 0, 0
	for range runs {
		base, same := series(rng, 12, 1)
		i, err := Paired(base, same)
		if err != nil {
			t.Fatal(err)
		}
		if i.Low > 1 || i.High < 1 {
			missed++
		}
		if Judge(i, P(base, same), MinThreshold) != NoDifference {
			wrong++
		}
		base, better := series(rng, 12, 1.1)
		if i, _ = Paired(base, better); i.Low < 1.1 && i.High > 1.09 && i.Low > 1 {
			found++
		}
	}
	if missed > runs*6/100 || wrong > runs/100 || found < runs*95/100 {
		t.Errorf("of %d: interval missed %d, wrong verdicts %d, 10 %% found %d",
			runs, missed, wrong, found)
	}
}

func TestSeparate(t *testing.T) {
	rng := testenv.Rand(testenv.Seed(t), 0)
	missed := 0
	for range 60 {
		var a, b []float64
		for range 20 {
			a = append(a, 100+rng.NormFloat64())
			b = append(b, 120+rng.NormFloat64())
		}
		i, err := Separate(a, b)
		if err != nil || i.Value < 1.18 || i.Value > 1.22 {
			t.Fatalf("%v %v", i, err)
		}
		if again, _ := Separate(a, b); again != i {
			t.Fatal("the bootstrap is not repeatable")
		}
		if i.Low > 1.2 || i.High < 1.2 {
			missed++
		}
	}
	if missed > 9 {
		t.Errorf("of 60 intervals %d miss", missed)
	}
}
