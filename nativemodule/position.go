package nativemodule

import (
	"cmp"
	"slices"
	"sort"
	"sync"

	"github.com/wasmjit/wasmjit/liftoff"
)

// keptPositions is how many functions' positions are kept: a deep recursion's
// backtrace asks for the same few again and again.
const keptPositions = 32

// positions finds positions by compiling functions again, one at a time.
type positions struct {
	mu   sync.Mutex
	comp compiler
	kept map[uint32][]liftoff.Position
}

// Position gives the position of the instruction of function fn at code offset
// off that trapped. Nothing was recorded when the module was compiled: the
// function is compiled again, with positions. It reports false where nothing
// can trap. If off is only a return address, that call's position is given.
func (m *Module) Position(fn, off uint32) (liftoff.Position, bool) {
	return m.position(fn, off, false)
}

// CallPosition gives the position of the call in function fn whose return
// address is at code offset off. It differs from Position when the instruction
// that follows the call can trap as well.
func (m *Module) CallPosition(fn, off uint32) (liftoff.Position, bool) {
	return m.position(fn, off, true)
}

func (m *Module) position(fn, off uint32, call bool) (liftoff.Position, bool) {
	all := m.positionsOf(fn)
	i := sort.Search(len(all), func(i int) bool { return all[i].Code >= off })
	var found liftoff.Position
	ok := false
	for ; i < len(all) && all[i].Code == off; i++ {
		isCall := all[i].Kind == liftoff.TrapNone
		if isCall == call {
			return all[i], true
		}
		if isCall {
			found, ok = all[i], true
		}
	}
	return found, ok
}

// positionsOf gives the positions of fn, ascending by code offset, or none if
// it isn't a defined function or fails to compile as it did before.
func (m *Module) positionsOf(fn uint32) (all []liftoff.Position) {
	if m.Size(fn) == 0 {
		return nil
	}
	p := &m.positions
	p.mu.Lock()
	defer p.mu.Unlock()
	if all, ok := p.kept[fn]; ok {
		return all
	}
	defer func() {
		// A backtrace goes without this position rather than losing the trap.
		if recover() != nil {
			p.comp, all = nil, nil
		}
	}()
	if p.comp == nil {
		c, err := m.compiler()
		if err != nil {
			return nil
		}
		p.comp = c
	}
	code, err := p.comp.CompilePositions(fn)
	if err != nil || len(code.Bytes) != m.Size(fn) {
		return nil
	}
	all = slices.Clone(code.Positions)
	slices.SortStableFunc(all, func(a, b liftoff.Position) int { return cmp.Compare(a.Code, b.Code) })
	if p.kept == nil || len(p.kept) >= keptPositions {
		p.kept = make(map[uint32][]liftoff.Position)
	}
	p.kept[fn] = all
	return all
}
