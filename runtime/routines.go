package runtime

import (
	"fmt"
	"unsafe"

	"github.com/wasmjit/wasmjit/liftoff"
)

// routine serves the runtime routines of compiled code (liftoff.Routine), on
// the Go stack. Operands are 32-bit values and compared as 64-bit ones, so
// that no check can wrap. The trap that it returns gets its frames in run.
func (a *guestCall) routine(r liftoff.Routine, f *routineFrame) error {
	i := a.store.handles.get(loadWord(f.Inst + liftoff.InstID)).inst
	hi, lo := uint32(f.Args[0]>>32), uint32(f.Args[0])
	u32 := func(arg int) uint64 { return uint64(uint32(f.Args[arg])) }
	ok, kind := true, TrapMemoryOutOfBounds
	switch r {
	case liftoff.MemoryGrow:
		f.SetResult(grown(i.memories[lo].Grow(u32(1))))
	case liftoff.MemoryCopy:
		ok = memoryCopy(i.memories[hi], i.memories[lo], u32(1), u32(2), u32(3))
	case liftoff.MemoryFill:
		ok = memoryFill(i.memories[lo], u32(1), byte(f.Args[2]), u32(3))
	case liftoff.MemoryInit:
		ok = i.memoryInit(hi, lo, u32(1), u32(2), u32(3))
	case liftoff.DataDrop:
		i.droppedDatas.add(lo)
	case liftoff.TableGrow:
		f.SetResult(grown(i.tables[lo].grow(u32(2), f.Args[1])))
	case liftoff.TableFill:
		ok, kind = i.tables[lo].fill(u32(1), f.Args[2], u32(3)), TrapTableOutOfBounds
	case liftoff.TableCopy:
		ok, kind = tableCopy(i.tables[hi], i.tables[lo], u32(1), u32(2), u32(3)), TrapTableOutOfBounds
	case liftoff.TableInit:
		ok, kind = i.tableInit(hi, lo, u32(1), u32(2), u32(3)), TrapTableOutOfBounds
	case liftoff.ElemDrop:
		i.droppedElems.add(lo)
	default:
		panic(fmt.Sprintf("runtime: unknown routine %d", r))
	}
	if !ok {
		return &Trap{Kind: kind}
	}
	return nil
}

// grown is the result of memory.grow and table.grow: a failure is -1 as an
// i32, zero-extended like every i32 in a register.
func grown(old uint64, ok bool) uint64 {
	if !ok {
		return 0xffffffff
	}
	return old
}

func memoryCopy(to, from *Memory, dst, src, n uint64) bool {
	d, ok1 := to.slice(dst, n)
	s, ok2 := from.slice(src, n)
	if !ok1 || !ok2 {
		return false
	}
	copy(d, s) // as if through a buffer, when they overlap
	return true
}

func memoryFill(m *Memory, dst uint64, b byte, n uint64) bool {
	d, ok := m.slice(dst, n)
	if !ok {
		return false
	}
	if b == 0 {
		clear(d)
		return true
	}
	// Fill a piece that stays in the cache, then copy it over the rest.
	piece := d[:min(len(d), 4096)]
	for k := range piece {
		piece[k] = b
	}
	for at := len(piece); at < len(d); {
		at += copy(d[at:], piece)
	}
	return true
}

func tableCopy(to, from *Table, dst, src, n uint64) bool {
	// Two threads may copy between the same two tables in opposite
	// directions: the lower address is locked first.
	first, second := to, from
	if uintptr(unsafe.Pointer(first)) > uintptr(unsafe.Pointer(second)) {
		first, second = second, first
	}
	first.mu.Lock()
	defer first.mu.Unlock()
	if second != first {
		second.mu.Lock()
		defer second.mu.Unlock()
	}
	if !from.holds(src, n) || !to.holds(dst, n) {
		return false
	}
	// Entry by entry, for compiled code may read them meanwhile; backwards
	// when a forward copy would overwrite its source.
	if to == from && dst > src {
		for k := n; k > 0; k-- {
			to.setEntry(dst+k-1, from.entry(src+k-1))
		}
		return true
	}
	for k := range n {
		to.setEntry(dst+k, from.entry(src+k))
	}
	return true
}
