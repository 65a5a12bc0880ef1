// Package codemem has the names of the real one.
package codemem

import "unsafe"

type Space struct{ addr uintptr }

type Chunk struct{ at uintptr }

type WriteScope struct{ c *Chunk }

func (s *Space) NewChunk(need int, opener string) (*Chunk, *WriteScope, error) {
	c := &Chunk{s.addr}
	return c, &WriteScope{c}, nil
}

func (s *Space) Open(site int, name string) (*WriteScope, error) {
	return &WriteScope{}, nil
}

func (w *WriteScope) Enter(site int, name string) (*WriteScope, error) { return w, nil }

func (w *WriteScope) Exit(in *WriteScope) error { return nil }

func (w *WriteScope) Close() error { return nil }

func (c *Chunk) Alloc(n int) (uintptr, bool) { return c.at, true }

func (s *Space) Slot(i int) uintptr { return s.addr }

// Write is the implementation, which no rule can forbid to write.
func (w *WriteScope) Write(addr uintptr, code []byte) {
	copy(unsafe.Slice((*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))), len(code)), code)
}

func (w *WriteScope) PatchSlot(i int, target uintptr) {}

// Loops are loops here, too.
func (s *Space) all(n int) {
	for range n {
		_, w, _ := s.NewChunk(1, "x") // want `write scope opened in a loop \(NewChunk\)`
		w.Close()
	}
}
