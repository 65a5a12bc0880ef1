package codemem

import "time"

// key is a memory protection key as mode PKU uses it. All threads of the
// process are denied access to its pages but for instruction fetches, reads
// included. The rights are opened and closed again in one assembly leaf that
// Go can't preempt, so they belong to the copying thread and to the moment.
type key struct {
	number int
	// mask has the two bits of the key in the PKRU register.
	mask uint32
}

// keyPiece is how many bytes are copied at a time with the rights open: the
// leaf can't be preempted, and holds up Go's collector for so long.
const keyPiece = 64 << 10

// write copies src to dst, which is tagged, and tells how long the rights
// were open.
func (k *key) write(dst uintptr, src []byte) time.Duration {
	start := time.Now()
	for len(src) > 0 {
		n := min(len(src), keyPiece)
		keyCopy(pointer(dst), &src[0], uintptr(n), k.mask)
		src, dst = src[n:], dst+uintptr(n)
	}
	return time.Since(start)
}

// read copies from src, which is tagged.
func (k *key) read(dst []byte, src uintptr) {
	for len(dst) > 0 {
		n := min(len(dst), keyPiece)
		keyCopyOut(&dst[0], pointer(src), uintptr(n), k.mask)
		dst, src = dst[n:], src+uintptr(n)
	}
}

// store64 stores v at addr, an aligned address that is tagged, by one store.
func (k *key) store64(addr uintptr, v uint64) time.Duration {
	start := time.Now()
	keyStore64(pointer(addr), v, k.mask)
	return time.Since(start)
}

var trapPage = func() (b [4096]byte) {
	for i := range b {
		b[i] = trapByte
	}
	return
}()

// fill makes n tagged bytes traps.
func (k *key) fill(addr, n uintptr) (open time.Duration) {
	for n > 0 {
		m := min(n, uintptr(len(trapPage)))
		open += k.write(addr, trapPage[:m])
		addr, n = addr+m, n-m
	}
	return open
}
