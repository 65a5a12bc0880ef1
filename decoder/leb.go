package decoder

import "unsafe"

// Malformed is the position that the LEB readers return for an encoding that
// is too long or has stray bits. It lies beyond every body, so a walker's
// ordinary end test catches it; the careful validator then finds the words.
const Malformed = 1 << 62

// U32 reads an unsigned LEB128 of at most 32 bits at p+pc and returns the
// value and the position behind it (spec 5.2.2). The one-byte path is
// inlined: 86-91 % of the LEBs of real modules are one byte long. It may read
// up to 5 bytes, so Padding must follow the buffer.
//
// The shape is the only one found that fits the compiler's inlining budget,
// to the last node; the signed readers don't fit.
func U32(p unsafe.Pointer, pc int) (v uint32, next int) {
	v, next = uint32(*(*byte)(unsafe.Add(p, pc))), pc+1
	if v >= 0x80 {
		v, next = u32Slow(p, pc)
	}
	return
}

// u32Slow reads an integer of two to five bytes from one 8-byte window.
//
//go:noinline
func u32Slow(p unsafe.Pointer, pc int) (uint32, int) {
	w := Word64(p, pc)
	v, n := bits28(w)
	if n != 0 {
		return v, pc + n
	}
	if w>>32&0xf0 != 0 {
		return 0, Malformed
	}
	return v | uint32(w>>32)<<28, pc + 5
}

// bits28 gives the value bits of the first bytes of w, up to the last byte of
// the integer, and its length; the length is 0 if it has more than four.
func bits28(w uint64) (v uint32, n int) {
	v = uint32(w&0x7f | w>>1&0x3f80)
	if w&0x80 == 0 {
		return v & 0x7f, 1
	}
	if w&0x8000 == 0 {
		return v, 2
	}
	v |= uint32(w >> 2 & 0x1fc000)
	if w&0x800000 == 0 {
		return v, 3
	}
	v |= uint32(w >> 3 & 0xfe00000)
	if w&0x80000000 == 0 {
		return v, 4
	}
	return v, 0
}

// S32 reads a signed LEB128 of at most 32 bits, sign-extended.
func S32(p unsafe.Pointer, pc int) (int32, int) {
	if b := *(*byte)(unsafe.Add(p, pc)); b < 0x80 {
		return int32(int8(b<<1)) >> 1, pc + 1
	}
	v, n := sLong(p, pc, 5, 0x07)
	return int32(v), n
}

// S33 reads a signed LEB128 of at most 33 bits, as block types use.
func S33(p unsafe.Pointer, pc int) (int64, int) {
	if b := *(*byte)(unsafe.Add(p, pc)); b < 0x80 {
		return int64(int8(b<<1)) >> 1, pc + 1
	}
	return sLong(p, pc, 5, 0x0f)
}

// S64 reads a signed LEB128 of at most 64 bits.
func S64(p unsafe.Pointer, pc int) (int64, int) {
	if b := *(*byte)(unsafe.Add(p, pc)); b < 0x80 {
		return int64(int8(b<<1)) >> 1, pc + 1
	}
	return sLong(p, pc, 10, 0)
}

// sLong reads a signed LEB128 of at most n bytes. In the last of n bytes, mask
// has the value bits below the sign bit; the sign bit and all above it must be
// equal.
//
//go:noinline
func sLong(p unsafe.Pointer, pc, n int, mask byte) (int64, int) {
	if v, k := bits28(Word64(p, pc)); k != 0 {
		unused := 32 - 7*k
		return int64(int32(v<<unused) >> unused), pc + k
	}
	var v int64
	for i := 0; i < n; i++ {
		b := *(*byte)(unsafe.Add(p, pc+i))
		v |= int64(b&0x7f) << (7 * i)
		if b < 0x80 {
			if i == n-1 {
				if high := b &^ mask; high != 0 && high != 0x7f&^mask {
					return 0, Malformed
				}
			}
			if shift := 64 - 7*(i+1); shift > 0 {
				v = v << shift >> shift
			}
			return v, pc + i + 1
		}
	}
	return 0, Malformed
}

// Byte reads the byte at p+pc.
func Byte(p unsafe.Pointer, pc int) byte { return *(*byte)(unsafe.Add(p, pc)) }

// What lebFault finds wrong with an integer.
const (
	lebTooLarge  = iota // stray bits in the last byte
	lebTooLong          // no last byte among as many as are allowed
	lebTruncated        // no last byte before the end
)

// lebFault tells what is wrong with an integer of at most most bytes at
// p+pc, which was refused or passes end.
func lebFault(p unsafe.Pointer, pc, end, most int) int {
	for i := range most {
		if pc+i >= end {
			return lebTruncated
		}
		if Byte(p, pc+i) < 0x80 {
			return lebTooLarge
		}
	}
	return lebTooLong
}

// Word32 reads four little-endian bytes at p+pc.
func Word32(p unsafe.Pointer, pc int) uint32 { return *(*uint32)(unsafe.Add(p, pc)) }

// Word64 reads eight little-endian bytes at p+pc.
func Word64(p unsafe.Pointer, pc int) uint64 { return *(*uint64)(unsafe.Add(p, pc)) }
