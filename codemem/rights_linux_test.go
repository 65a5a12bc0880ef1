package codemem

import "testing"

// What a scope may do depends on the place it was opened at.
func TestRights(t *testing.T) {
	for _, mode := range modesHere() {
		s := patchedSpace(t, mode, 2)
		h := NewHolder()
		at := addCode(t, s, h, returns(1), returns(2))
		batch := open(t, s, h, SiteBatch)
		mustPanic(t, "may not patch slots", func() { _ = batch.PatchSlot(0, at[0]) })
		mustPanic(t, "may not free code", func() { _ = batch.FreeCode(at[0], 6) })
		mustPanic(t, "may write", func() { batch.Write(at[0], []byte{1}) })
		c, err := batch.Reserve(100)
		if err != nil {
			t.Fatal(err)
		}
		mustPanic(t, "may not reserve", func() { _, _ = batch.Reserve(100) })
		unfinished, _ := c.Alloc(100)
		mustPanic(t, "may write", func() { batch.Write(s.Slot(0), make([]byte, 8)) })

		publish := open(t, s, h, SitePublish)
		mustPanic(t, "may not reserve", func() { _, _ = publish.Reserve(100) })
		mustPanic(t, "may write", func() { publish.Write(s.Slot(0), make([]byte, 8)) })
		patcher, err := publish.Enter(SitePatch, "test.patch")
		if err != nil {
			t.Fatal(err)
		}
		mustPanic(t, "without the space's lock", func() { _ = patcher.PatchSlot(0, at[0]) })
		s.Hold(h)
		if mode == Fine {
			mustPanic(t, "may not patch slots", func() { _ = publish.PatchSlot(0, at[0]) })
		}
		for _, bad := range []uintptr{1, at[0] + 1, at[0] + funcAlign*2, unfinished, s.Slot(0), at[1] + pageSize} {
			mustPanic(t, "no finished function", func() { _ = patcher.PatchSlot(0, bad) })
		}
		mustPanic(t, "slot 2 of 2", func() { _ = patcher.PatchSlot(2, at[0]) })
		mustPanic(t, "slot -1 of 2", func() { _ = patcher.PatchSlot(-1, at[0]) })
		for _, p := range []struct {
			slot   int
			target uintptr
		}{{0, at[0]}, {1, at[1]}, {1, 0}} {
			if err := patcher.PatchSlot(p.slot, p.target); err != nil {
				t.Fatal(err)
			}
		}
		s.Unhold()
		if err := publish.Exit(patcher); err != nil {
			t.Fatal(err)
		}
		if s.SlotTarget(0) != at[0] || s.SlotTarget(1) != 0 {
			t.Errorf("%v: slots lead to %#x and %#x", mode, s.SlotTarget(0), s.SlotTarget(1))
		}
		closeScope(t, publish)
		copied := *batch
		closeScope(t, batch)
		mustPanic(t, "is closed", func() { _ = batch.Close() })
		mustPanic(t, "is closed", func() { copied.Write(unfinished, []byte{1}) })
		mustPanic(t, "is closed", func() { _ = publish.PatchSlot(0, at[0]) })
		var none *WriteScope
		mustPanic(t, "nil or zero", func() { _ = none.PatchSlot(0, at[0]) })
		mustPanic(t, "nil or zero", func() { _, _ = (&WriteScope{}).Reserve(1) })
		mustPanic(t, "nil or zero", func() { _, _ = none.Enter(SitePatch, "x") })
		mustPanic(t, "without a holder", func() { _, _ = s.Open(nil, SiteBatch, "x") })
		mustPanic(t, "space for batches", func() { _, _, _ = s.NewChunk(1, "x") })
		foreign := patchedSpace(t, mode, 1)
		foreign.Hold(h)
		w := open(t, foreign, h, SitePublish)
		in, err := w.Enter(SitePatch, "test.patch")
		if err != nil {
			t.Fatal(err)
		}
		mustPanic(t, "no finished function", func() { _ = in.PatchSlot(0, at[0]) })
		if err := w.Exit(in); err != nil {
			t.Fatal(err)
		}
		closeScope(t, w)
		foreign.Unhold()
	}
}
