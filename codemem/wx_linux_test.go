package codemem

import (
	"bytes"
	"fmt"
	"os"
	"strings"
	"testing"
)

// No page is writable and executable at once in modes Seal and Dual, all
// views counted, at any step of the way; the writable view of Dual is gone
// when the code is published and inaccessible outside of scopes.
func TestNoPageWritableAndExecutable(t *testing.T) {
	for _, mode := range []Mode{Seal, Dual} {
		if Check(mode) != nil {
			t.Skip(Check(mode))
		}
		s := patchedSpace(t, mode, 600)
		h := NewHolder()
		never := func(step string) {
			t.Helper()
			for _, page := range writableAndExecutable(t) {
				t.Errorf("%v, %s: %s is writable and executable", mode, step, page)
			}
		}
		at := addCode(t, s, h, bytes.Repeat(returns(1), 1000))
		never("added")
		patch(t, s, h, 0, at[0])
		w := open(t, s, h, SitePublish)
		never("in a scope for publishing")
		closeScope(t, w)
		if err := s.Publish(); err != nil {
			t.Fatal(err)
		}
		never("published")
		if mode != Dual {
			continue
		}
		view := s.table.Lo + s.tableDelta
		poke := func() { *(*byte)(pointer(view + 599*SlotSize)) = trapByte }
		if !faults(poke) || !faults(func() { _ = s.Read(view+s.tablePages(), 1) }) {
			t.Error("a writable view is accessible after the publication")
		}
		b := open(t, s, h, SiteBatch)
		c, err := b.Reserve(100)
		if err != nil {
			t.Fatal(err)
		}
		a, _ := c.Alloc(100)
		b.Write(a, returns(7))
		never("in a scope for adding")
		if !faults(poke) {
			t.Error("the view of the jump table is accessible in a scope for adding")
		}
		own := a + c.delta
		closeScope(t, b)
		never("added to a live space")
		if !faults(func() { *(*byte)(pointer(own)) = 1 }) {
			t.Error("the writable view of a batch outlived its scope")
		}
		p := open(t, s, h, SitePublish)
		if faults(poke) {
			t.Error("the view of the jump table is not accessible in a scope for publishing")
		}
		closeScope(t, p)
		if !faults(poke) {
			t.Error("the view of the jump table is accessible after the scope")
		}
		if err := s.Seal(); err != nil {
			t.Fatal(err)
		}
		for _, m := range sharedMappings(t) {
			if strings.Contains(m, "wasmjit-code") && !strings.Contains(m, " r-xs ") {
				t.Errorf("left after sealing: %s", m)
			}
		}
	}
}

// shared is a mapping with the pages that it shows: those of one file are the
// same in each of its mappings.
type shared struct {
	file   string // a name for what is behind it, its own for private pages
	lo, hi uint64 // in the file
	perms  string
	line   string
}

func sharedOf(t *testing.T) (all []shared) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Skip(err)
	}
	for line := range strings.Lines(string(text)) {
		var lo, hi, off, inode uint64
		var perms, dev string
		if _, err := fmt.Sscanf(line, "%x-%x %s %x %s %d", &lo, &hi, &perms, &off, &dev, &inode); err != nil {
			t.Fatal(err)
		}
		s := shared{fmt.Sprintf("%s:%d", dev, inode), off, off + hi - lo, perms, strings.TrimSpace(line)}
		if inode == 0 || perms[3] != 's' { // private pages are their mapping's alone
			s.file, s.lo, s.hi = fmt.Sprintf("private %x", lo), 0, 1
		}
		all = append(all, s)
	}
	return all
}

func sharedMappings(t *testing.T) (lines []string) {
	for _, s := range sharedOf(t) {
		lines = append(lines, s.line)
	}
	return lines
}

// writableAndExecutable lists the mappings that make a page writable while
// they, or others of the same page, make it executable.
func writableAndExecutable(t *testing.T) (found []string) {
	all := sharedOf(t)
	for _, a := range all {
		for _, b := range all {
			if a.perms[1] == 'w' && b.perms[2] == 'x' && a.file == b.file && a.lo < b.hi && b.lo < a.hi {
				found = append(found, a.line)
			}
		}
	}
	return found
}
