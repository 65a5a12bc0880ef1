package nativemodule

import "github.com/wasmjit/wasmjit/liftoff"

// writesTables is what a compiler implements that can tell which tables the
// functions it compiled may change; see liftoff.Compiler.WrittenTables.
type writesTables interface{ WrittenTables() uint64 }

// noteWrites gathers what the workers' compilers have seen. Of one that can't
// tell anything is assumed.
func (m *Module) noteWrites(workers []worker) {
	for i := range workers {
		switch c := workers[i].comp.(type) {
		case nil: // it had nothing to compile
		case writesTables:
			m.written |= c.WrittenTables()
		default:
			m.written = ^uint64(0)
		}
	}
}

// WritesTable reports whether the code of the module may change table n, its
// entries or its length.
func (m *Module) WritesTable(n uint32) bool { return m.written&liftoff.TableBit(n) != 0 }
