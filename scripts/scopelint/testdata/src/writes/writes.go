package writes

import (
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/nativemodule"
)

type worker struct {
	scope  *codemem.WriteScope
	scopes []*codemem.WriteScope
	chunk  *codemem.Chunk
}

var global *codemem.WriteScope

func parameter(w *codemem.WriteScope, addr uintptr, code []byte) { w.Write(addr, code) }

func opened(s *codemem.Space, code []byte) {
	c, w, err := s.NewChunk(1, "x")
	if err != nil {
		return
	}
	addr, _ := c.Alloc(len(code))
	w.Write(addr, code)
	func() { w.Write(addr, code) }()
	in, _ := w.Enter(1, "x")
	in.Write(addr, code)
	w.Exit(in)
	w.Close()
}

func (k *worker) field(addr uintptr, code []byte) {
	k.scope.Write(addr, code) // want `Write through a write scope from a field: take the scope as a parameter`
	w := k.scope
	w.PatchSlot(1, addr)             // want `PatchSlot through a write scope from a field`
	k.scopes[0].Write(addr, code)    // want `Write through a write scope from a slice`
	global.Write(addr, code)         // want `Write through a write scope from a variable of the package`
	get().Write(addr, code)          // want `Write through a write scope from a function`
	func() { w.Write(addr, code) }() // want `Write through a write scope from a field`
	parameter(k.scope, addr, code)   // whoever keeps a scope hands it on
	for _, s := range k.scopes {
		s.Close() // and ends it
	}
}

func get() *codemem.WriteScope { return global }

func either(w *codemem.WriteScope, b bool, addr uintptr, code []byte) {
	if b {
		w = global
	}
	w.Write(addr, code) // want `Write through a write scope from a variable of the package`
}

func pointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

func past(m *nativemodule.Module, s *codemem.Space, code []byte) {
	addr := m.Entry(3)
	*(*byte)(unsafe.Pointer(addr)) = 0xc3                      // want `code memory written past any write scope`
	*(*byte)(*(*unsafe.Pointer)(unsafe.Pointer(&addr))) = 0xc3 // want `code memory written past any write scope`
	*(*byte)(pointer(addr + 5)) = 0xc3                         // want `code memory written past any write scope`
	b := unsafe.Slice((*byte)(pointer(addr)), 10)
	b[4] = 1                                                   // want `code memory written past any write scope`
	copy(b[2:], code)                                          // want `code memory written past any write scope`
	clear(b)                                                   // want `code memory written past any write scope`
	atomic.StoreUint64((*uint64)(pointer(s.Slot(1))), 0)       // want `code memory written past any write scope`
	syscall.Syscall(syscall.SYS_MPROTECT, addr&^4095, 4096, 7) // want `code memory given other rights past any write scope`
	syscall.Syscall(syscall.SYS_MPROTECT, addr, 4096, 7)       // want `code memory given other rights past any write scope`
	syscall.Mprotect(b, 7)                                     // want `code memory given other rights past any write scope`
}

// Reading is no writing, and an address that is stored is no write to it.
func read(m *nativemodule.Module, s *codemem.Space, entries []uintptr) (byte, uint64) {
	addr := m.Entry(3)
	entries[0] = addr
	b := unsafe.Slice((*byte)(pointer(addr)), 10)
	copy(make([]byte, 10), b)
	return b[3], atomic.LoadUint64((*uint64)(pointer(s.Slot(1))))
}

// lockdown changes rights on purpose.
//
//scopelint:ok code loses rights here, it gains none
func lockdown(m *nativemodule.Module) {
	syscall.Syscall(syscall.SYS_MPROTECT, m.Entry(0), 4096, 1)
}

func unsaid(m *nativemodule.Module) {
	*(*byte)(unsafe.Pointer(m.Entry(0))) = 1 // want `code memory written past any write scope`
	//scopelint:ok // want `//scopelint:ok without a reason`
}
