package codemem

import (
	"testing"
	"time"
)

func TestExposure(t *testing.T) {
	var e exposure
	start := time.Now()
	e.at = start
	e.executable, e.unpublished, e.open = 100, 10, true
	time.Sleep(2 * time.Millisecond)
	e.change(func(e *exposure) { e.open = false })
	time.Sleep(time.Millisecond)
	got := e.read()
	most := time.Since(start).Seconds()
	if s := got.ExecutableTime.Seconds(); s < 0.002 || s > most || got.UnpublishedTime != got.ExecutableTime {
		t.Errorf("times %+v", got)
	}
	if got.WritableExecutable < 0.2 || got.WritableExecutable > 100*most || got.WritableUnpublished < 0.02 {
		t.Errorf("sums %+v", got)
	}
	again := e.read()
	e.charge(time.Second)
	if d := e.read().WritableExecutable - again.WritableExecutable; again != got || d < 99.9 || d > 100.1 {
		t.Errorf("a second in which all was open added %v byte seconds", d)
	}
	e = exposure{own: 50, at: time.Now()}
	time.Sleep(time.Millisecond)
	if got := e.read(); got.WritableUnpublished < 0.05 || got.WritableExecutable != 0 {
		t.Errorf("a view of a batch: %+v", got)
	}
}

func TestExposureOfModes(t *testing.T) {
	for _, mode := range modesHere() {
		s := patchedSpace(t, mode, 1)
		h := NewHolder()
		at := addCode(t, s, h, returns(1))
		patch(t, s, h, 0, at[0])
		if err := s.Publish(); err != nil {
			t.Fatal(err)
		}
		x := s.Exposure()
		if x.WritableUnpublished <= 0 {
			t.Errorf("%v: %+v", mode, x)
		}
		if never := mode == Seal || mode == Dual; never != (x.WritableExecutable == 0) {
			t.Errorf("%v: %+v", mode, x)
		}
		time.Sleep(time.Millisecond)
		later := s.Exposure()
		if grows := later.WritableExecutable > x.WritableExecutable; grows != (mode == Off) {
			t.Errorf("%v: after the publication %+v, then %+v", mode, x, later)
		}
		if later.WritableUnpublished != x.WritableUnpublished {
			t.Errorf("%v: published code counts as unpublished: %+v, then %+v", mode, x, later)
		}
		if mode.Patchable() {
			patch(t, s, h, 0, addCode(t, s, h, returns(2))[0])
			last := s.Exposure()
			if last.WritableExecutable <= later.WritableExecutable || last.WritableUnpublished <= later.WritableUnpublished {
				t.Errorf("%v: replacing code: %+v, then %+v", mode, later, last)
			}
		}
	}
}
