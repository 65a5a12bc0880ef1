package loops

import "github.com/wasmjit/wasmjit/codemem"

var space codemem.Space

// The fix of the original: one scope around the loop, handed down.
func hoisted(n int) {
	w, _ := space.Open(0, "publish")
	for i := range n {
		patch(w, i)
	}
	w.Close()
}

func patch(w *codemem.WriteScope, i int) { w.PatchSlot(i, 0) }

// The mistake of the original, in the shapes that loops have.
func storm(n int) {
	for i := range n {
		w, _ := space.Open(0, "patch") // want `write scope opened in a loop \(Open\)`
		w.PatchSlot(i, 0)
		w.Close()
	}
	for i := 0; i < n; i++ {
		_, w, _ := space.NewChunk(1, "patch") // want `write scope opened in a loop \(NewChunk\)`
		w.Close()
	}
	for w, err := space.Open(0, "once"); err == nil; _, err = space.Open(0, "again") { // want `write scope opened in a loop \(Open\)`
		w.Close()
	}
}

func jump(n int) {
again:
	w, _ := space.Open(0, "jump") // want `write scope opened in a loop \(Open\)`
	w.Close()
	if n--; n > 0 {
		goto again
	}
}

// The original's loop didn't show its scope: that was two calls deeper.
func publish(n int) {
	for i := range n {
		publishOne(i) // want `write scope opened in a loop, through publishOne, patchSlot \(Open\)`
	}
}

func publishOne(i int) { patchSlot(i) }

func patchSlot(i int) {
	w, _ := space.Open(0, "deep")
	w.PatchSlot(i, 0)
	w.Close()
}

func once() { publishOne(1) }

// A literal that is made in a loop is part of it, one that contains a loop
// isn't.
func literals(n int) {
	for range n {
		func() {
			w, _ := space.Open(0, "literal") // want `write scope opened in a loop \(Open\)`
			w.Close()
		}()
		defer func() {
			publishOne(n) // want `write scope opened in a loop, through publishOne, patchSlot \(Open\)`
		}()
	}
	func() {
		w, _ := space.Open(0, "around")
		for i := range n {
			patch(w, i)
		}
		w.Close()
	}()
}

// An iterator's body is a loop's.
func iterated(seq func(yield func(int) bool)) {
	for i := range seq {
		w, _ := space.Open(0, "iterator") // want `write scope opened in a loop \(Open\)`
		w.PatchSlot(i, 0)
		w.Close()
	}
}

// An inner place of V8's pipeline is an opening like any other.
func inner(w *codemem.WriteScope, n int) {
	for range n {
		in, _ := w.Enter(1, "inner") // want `write scope opened in a loop \(Enter\)`
		w.Exit(in)
	}
}

// rollover opens one scope per chunk, however many functions there are.
//
//scopelint:ok one per chunk
func rollover() *codemem.WriteScope {
	_, w, _ := space.NewChunk(1, "chunk")
	return w
}

func excused(n int) {
	for range n {
		rollover().Close()
		//scopelint:ok the comparison with V8 opens one here
		w, _ := space.Open(0, "compared")
		w.Close()
		w, _ = space.Open(0, "compared") //scopelint:ok and here
		w.Close()
	}
}

func idle() {
	w, _ := space.Open(0, "idle")
	//scopelint:ok the opening is elsewhere // want `//scopelint:ok excuses nothing`
	w.Close()
}
