package runtime

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"
)

// Everything compiled code can address lives outside the Go heap: the garbage
// collector may neither move it nor free it, and a Go pointer must never be
// stored in it. Addresses are uintptr here, on purpose.

// ptr turns an off-heap address into a pointer. The detour keeps vet's
// unsafeptr check for addresses that could be the Go heap's.
func ptr(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

// word, half and bytesAt view off-heap memory. Words that compiled code on
// another thread may read meanwhile are written with storeWord.
func word(addr uintptr) *uint64 { return (*uint64)(ptr(addr)) }
func half(addr uintptr) *uint32 { return (*uint32)(ptr(addr)) }

func loadWord(addr uintptr) uint64     { return atomic.LoadUint64(word(addr)) }
func storeWord(addr uintptr, v uint64) { atomic.StoreUint64(word(addr), v) }

func bytesAt(addr, n uintptr) []byte { return unsafe.Slice((*byte)(ptr(addr)), n) }

func roundUp(n, to uintptr) uintptr { return (n + to - 1) &^ (to - 1) }

// blocks hands out zeroed, 16-byte aligned pieces of off-heap memory for
// instance blocks and records. Small pieces come in powers of two from slabs
// that stay until close; large ones are mappings of their own.
type blocks struct {
	mu    sync.Mutex
	slabs []uintptr
	free  [maxClass + 1][]uintptr
	next  uintptr // the current slab's unused part
	end   uintptr
	large map[uintptr]uintptr // address to size
}

const (
	minClass = 4 // 16 bytes
	maxClass = 14
	slabSize = 64 << 10
)

func sizeClass(n uintptr) int { return max(minClass, bits.Len64(uint64(n-1))) }

// alloc gives n > 0 zeroed bytes.
func (b *blocks) alloc(n uintptr) (uintptr, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := sizeClass(n)
	if c > maxClass {
		n = roundUp(n, pageSize)
		a, err := mapRW(n)
		if err != nil {
			return 0, err
		}
		if b.large == nil {
			b.large = make(map[uintptr]uintptr)
		}
		b.large[a] = n
		return a, nil
	}
	if f := b.free[c]; len(f) > 0 {
		a := f[len(f)-1]
		b.free[c] = f[:len(f)-1]
		clear(bytesAt(a, 1<<c))
		return a, nil
	}
	if b.end-b.next < 1<<c {
		a, err := mapRW(slabSize)
		if err != nil {
			return 0, err
		}
		b.slabs = append(b.slabs, a)
		b.next, b.end = a, a+slabSize
	}
	a := b.next
	b.next += 1 << c
	return a, nil
}

// release gives back the piece at a, which alloc(n) returned.
func (b *blocks) release(a, n uintptr) {
	if a == 0 {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	c := sizeClass(n)
	if c > maxClass {
		unmap(a, b.large[a])
		delete(b.large, a)
		return
	}
	b.free[c] = append(b.free[c], a)
}

// close unmaps everything.
func (b *blocks) close() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, a := range b.slabs {
		unmap(a, slabSize)
	}
	for a, n := range b.large {
		unmap(a, n)
	}
	b.slabs, b.large, b.free = nil, nil, [maxClass + 1][]uintptr{}
	b.next, b.end = 0, 0
}
