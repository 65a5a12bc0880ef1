package codemem

import "fmt"

// FreeCode gives up the function at addr, of n bytes, that finished a batch:
// it is no target for slots any more. Nobody runs it, and no slot aims at it;
// the caller knows. Its addresses are not used again before the space is
// freed, so that neither a return address nor a processor's cache can ever
// meet other code there.
//
// Its bytes become traps, but in Dual, where published bytes can't be written.
// Pages that hold no function any more become inaccessible, and their memory
// is given back; in Dual that of a batch goes with its last page, and that of
// the first publication with the space. The switching modes keep all pages:
// they switch the whole range.
//
// The scope is one for freeing, and its holder holds the space's lock.
func (w *WriteScope) FreeCode(addr uintptr, n int) error {
	c := w.owner()
	s := c.space
	if !c.frees() {
		panic(fmt.Sprintf("codemem: scope of %q may not free code", c.opener.name))
	}
	if !s.mu.heldBy(c.v8.holder) {
		panic(fmt.Sprintf("codemem: scope of %q frees code without the space's lock", c.opener.name))
	}
	size := alignUp(uintptr(max(n, 1)), funcAlign)
	for _, sp := range s.spans {
		word, bit := sp.target(addr)
		if word == nil {
			continue
		}
		if *word&bit == 0 || size > sp.next.Load()-addr {
			break
		}
		*word &^= bit
		if !s.policy.alias {
			c.rights += s.fillTraps(addr, size)
			c.bytes += int64(size)
		}
		return s.freePages(sp, addr, addr+size)
	}
	panic(fmt.Sprintf("codemem: freeing %#x, where no function starts", addr))
}

// countPages notes the functions of a batch on its pages.
func (sp *span) countPages(placed []Range) {
	if sp.pages == nil {
		sp.pages = make(map[uintptr]int)
	}
	for _, r := range placed {
		for p := r.Lo / pageSize; p <= (r.Hi-1)/pageSize; p++ {
			sp.pages[p]++
		}
	}
}

// freePages gives up the pages of a function that no other needs.
func (s *Space) freePages(sp *span, lo, hi uintptr) error {
	for p := lo / pageSize; p <= (hi-1)/pageSize; p++ {
		n, ok := sp.pages[p]
		if !ok {
			continue
		}
		if n > 1 {
			sp.pages[p] = n - 1
			continue
		}
		delete(sp.pages, p)
		if err := remap(&s.calls, p*pageSize, pageSize, protNone); err != nil {
			return err
		}
	}
	return nil
}
