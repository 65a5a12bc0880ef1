package decoder

import (
	"sync"
	"sync/atomic"
)

// ValidateBody validates the body of function fn, which must not be an
// import. An error is an *Error.
func (m *Module) ValidateBody(fn uint32) error {
	v := Validator{Mod: m}
	if err := v.Validate(fn); err != nil {
		return err
	}
	return nil
}

// Validate validates the body of function fn, which must not be an import.
func (v *Validator) Validate(fn uint32) *Error {
	pc, ok := v.Begin(fn)
	if ok {
		// No frame is at depth 0, so only the body's end stops the walk.
		v.walk(pc, 0)
	}
	return v.err
}

// ValidateBodies validates all bodies with a number of goroutines. The error,
// an *Error, is the one at the lowest offset, whatever their number.
func ValidateBodies(m *Module, workers int) error {
	bodies := int64(len(m.Bodies))
	workers = int(max(1, min(int64(workers), bodies/16)))
	var cursor atomic.Int64
	var bad atomic.Int64 // lowest index of an invalid body so far
	bad.Store(bodies)
	errs := make([]*Error, workers)
	work := func(w int) {
		v := Validator{Mod: m}
		// Indices are handed out in order, so all below a bad one have been
		// taken and will be looked at.
		for i := cursor.Add(1) - 1; i < bad.Load(); i = cursor.Add(1) - 1 {
			err := v.Validate(m.NumImportedFuncs + uint32(i))
			if err == nil {
				continue
			}
			errs[w] = err
			for b := bad.Load(); i < b && !bad.CompareAndSwap(b, i); b = bad.Load() {
			}
			return
		}
	}
	var wg sync.WaitGroup
	for w := 1; w < workers; w++ {
		wg.Go(func() { work(w) })
	}
	work(0)
	wg.Wait()
	var first *Error
	for _, err := range errs {
		if err != nil && (first == nil || err.Offset < first.Offset) {
			first = err
		}
	}
	if first == nil {
		return nil
	}
	return first
}
