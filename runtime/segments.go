package runtime

import (
	"context"
	"fmt"

	"github.com/wasmjit/wasmjit/decoder"
)

// initialise writes the active segments, elements first, and runs the start
// function (spec 4.5.4, steps 9 to 16).
func (i *Instance) initialise(ctx context.Context) error {
	d := i.module.Decoded()
	for n := range d.Elems {
		e := &d.Elems[n]
		switch e.Mode {
		case decoder.SegmentActive:
			at := uint64(uint32(i.eval(e.Offset)))
			if !i.tableInit(uint32(n), e.Table, at, 0, uint64(e.Len())) {
				return &Trap{Kind: TrapTableOutOfBounds, Cause: fmt.Errorf("element segment %d: %d elements at %d don't fit in table of %d", n, e.Len(), at, i.tables[e.Table].Len())}
			}
			i.droppedElems.add(uint32(n))
		case decoder.SegmentDeclared:
			i.droppedElems.add(uint32(n))
		}
	}
	for n := range d.Datas {
		if s := &d.Datas[n]; s.Mode == decoder.SegmentActive {
			at, size := uint64(uint32(i.eval(s.Offset))), uint64(s.End-s.Start)
			if !i.memoryInit(uint32(n), s.Memory, at, 0, size) {
				return &Trap{Kind: TrapMemoryOutOfBounds, Cause: fmt.Errorf("data segment %d: %d bytes at %d don't fit in memory of %d", n, size, at, len(i.memories[s.Memory].Bytes()))}
			}
			i.droppedDatas.add(uint32(n))
		}
	}
	if i.store.locked {
		if err := i.lockTables(); err != nil {
			return err
		}
	}
	if d.HasStart {
		return i.function(d.Start).invoke(ctx, nil)
	}
	return nil
}

// tableInit copies n elements of a segment, from src, to entries from dst. It
// is false, and nothing changed, when they aren't all there; a dropped
// segment is empty.
func (i *Instance) tableInit(segment, table uint32, dst, src, n uint64) bool {
	e, t := &i.module.Decoded().Elems[segment], i.tables[table]
	size := uint64(e.Len())
	if i.droppedElems.has(segment) {
		size = 0
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.final || src > size || n > size-src || !t.holds(dst, n) {
		return false
	}
	if len(e.Funcs) > 0 {
		for k, fn := range e.Funcs[src : src+n] {
			t.setEntry(dst+uint64(k), i.funcRef(fn))
		}
		return true
	}
	for k := range n {
		t.setEntry(dst+k, i.eval(e.Exprs[src+k]))
	}
	return true
}

// memoryInit is the same for bytes of a data segment.
func (i *Instance) memoryInit(segment, memory uint32, dst, src, n uint64) bool {
	d := i.module.Decoded()
	s := &d.Datas[segment]
	data := d.Bytes[s.Start:s.End]
	if i.droppedDatas.has(segment) {
		data = nil
	}
	to, ok := i.memories[memory].slice(dst, n)
	if !ok || src > uint64(len(data)) || n > uint64(len(data))-src {
		return false
	}
	copy(to, data[src:src+n])
	return true
}

// eval computes a constant expression, which validation found well-typed.
func (i *Instance) eval(e decoder.ConstExpr) uint64 {
	var small [8]uint64
	stack := small[:0]
	pop := func() uint64 {
		v := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		return v
	}
	for k := range e {
		in := &e[k]
		var v uint64
		switch in.Op {
		case decoder.ConstValue:
			v = in.Bits
		case decoder.ConstGlobal:
			g := i.globals[in.Index]
			v = narrow(g.declared.Type, loadWord(g.cell))
		case decoder.ConstRefNull:
			v = 0
		case decoder.ConstRefFunc:
			v = i.funcRef(in.Index)
		default:
			b, a := pop(), pop()
			switch in.Op {
			case decoder.ConstI32Add:
				v = uint64(uint32(a + b))
			case decoder.ConstI32Sub:
				v = uint64(uint32(a - b))
			case decoder.ConstI32Mul:
				v = uint64(uint32(a * b))
			case decoder.ConstI64Add:
				v = a + b
			case decoder.ConstI64Sub:
				v = a - b
			case decoder.ConstI64Mul:
				v = a * b
			}
		}
		stack = append(stack, v)
	}
	return pop()
}
