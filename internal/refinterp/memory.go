package refinterp

import "encoding/binary"

// access describes loads and stores 0x28 to 0x3e: bytes of memory, and for a
// load whether and from and to which width it sign-extends.
var access = [...]struct {
	bytes  int
	signed bool
	width  int
}{
	{4, false, 32}, {8, false, 64}, {4, false, 32}, {8, false, 64}, // i32 i64 f32 f64 load
	{1, true, 32}, {1, false, 32}, {2, true, 32}, {2, false, 32},
	{1, true, 64}, {1, false, 64}, {2, true, 64}, {2, false, 64}, {4, true, 64}, {4, false, 64},
	{4, false, 32}, {8, false, 64}, {4, false, 32}, {8, false, 64}, // stores
	{1, false, 32}, {2, false, 32}, {1, false, 64}, {2, false, 64}, {4, false, 64},
}

const (
	trapMemory = "out of bounds memory access"
	trapTable  = "out of bounds table access"
)

func (f *frame) memoryOp(in *instr) error {
	switch in.op {
	case opMemorySize:
		f.push(uint64(len(f.in.memories[in.x].bytes) / pageSize))
		return nil
	case opMemoryGrow:
		f.push(f.in.memories[in.x].grow(f.pop() & m32))
		return nil
	case opMemoryInit:
		n, src, dst := f.pop()&m32, f.pop()&m32, f.pop()&m32
		return f.in.memoryInit(f.in.memories[in.y], f.in.datas[in.x], dst, src, n)
	case opDataDrop:
		f.in.datas[in.x] = nil
		return nil
	case opMemoryCopy:
		n, src, dst := f.pop()&m32, f.pop()&m32, f.pop()&m32
		d, s := f.in.memories[in.x].bytes, f.in.memories[in.y].bytes
		if src+n > uint64(len(s)) || dst+n > uint64(len(d)) {
			return trap(trapMemory)
		}
		copy(d[dst:dst+n], s[src:src+n])
		return nil
	case opMemoryFill:
		n, v, dst := f.pop()&m32, f.pop(), f.pop()&m32
		d := f.in.memories[in.x].bytes
		if dst+n > uint64(len(d)) {
			return trap(trapMemory)
		}
		for i := range n {
			d[dst+i] = byte(v)
		}
		return nil
	}
	return f.loadStore(in)
}

func (f *frame) loadStore(in *instr) error {
	a := access[in.op-opLoadFirst]
	store := in.op > opLoadLast
	var v uint64
	if store {
		v = f.pop()
	}
	mem := f.in.memories[0].bytes
	at := f.pop()&m32 + in.imm
	if at+uint64(a.bytes) > uint64(len(mem)) {
		return trap(trapMemory)
	}
	var buf [8]byte
	if store {
		binary.LittleEndian.PutUint64(buf[:], v)
		copy(mem[at:], buf[:a.bytes])
		return nil
	}
	copy(buf[:], mem[at:at+uint64(a.bytes)])
	v = binary.LittleEndian.Uint64(buf[:])
	if a.signed {
		unused := 64 - 8*a.bytes
		v = uint64(int64(v<<unused) >> unused)
	}
	if a.width == 32 {
		v &= m32
	}
	f.push(v)
	return nil
}

func (in *instance) memoryInit(m *memory, data []byte, dst, src, n uint64) error {
	if src+n > uint64(len(data)) || dst+n > uint64(len(m.bytes)) {
		return trap(trapMemory)
	}
	copy(m.bytes[dst:], data[src:src+n])
	return nil
}

func (in *instance) tableInit(t *table, elems []uint64, dst, src, n uint64) error {
	if src+n > uint64(len(elems)) || dst+n > uint64(len(t.elems)) {
		return trap(trapTable)
	}
	copy(t.elems[dst:], elems[src:src+n])
	return nil
}

func (f *frame) tableOp(in *instr) error {
	switch in.op {
	case opTableInit:
		n, src, dst := f.pop()&m32, f.pop()&m32, f.pop()&m32
		return f.in.tableInit(f.in.tables[in.y], f.in.elems[in.x], dst, src, n)
	case opElemDrop:
		f.in.elems[in.x] = nil
		return nil
	}
	t := f.in.tables[in.x]
	switch in.op {
	case opTableGet:
		i := f.pop() & m32
		if i >= uint64(len(t.elems)) {
			return trap(trapTable)
		}
		f.push(t.elems[i])
	case opTableSet:
		v, i := f.pop(), f.pop()&m32
		if i >= uint64(len(t.elems)) {
			return trap(trapTable)
		}
		t.elems[i] = v
	case opTableCopy:
		n, src, dst := f.pop()&m32, f.pop()&m32, f.pop()&m32
		s := f.in.tables[in.y]
		if src+n > uint64(len(s.elems)) || dst+n > uint64(len(t.elems)) {
			return trap(trapTable)
		}
		copy(t.elems[dst:dst+n], s.elems[src:src+n])
	case opTableGrow:
		n := f.pop() & m32
		f.push(t.grow(f.pop(), n))
	case opTableSize:
		f.push(uint64(len(t.elems)))
	case opTableFill:
		n, v, dst := f.pop()&m32, f.pop(), f.pop()&m32
		if dst+n > uint64(len(t.elems)) {
			return trap(trapTable)
		}
		for i := range n {
			t.elems[dst+i] = v
		}
	}
	return nil
}
