package decoder

import (
	"fmt"
	"io"
	"unsafe"
)

// Read reads a whole module into a buffer that has the padding Decode wants,
// so that Decode doesn't copy it. sizeHint is the expected size in bytes, 0 if
// unknown; it need not be right. More than MaxModuleSize bytes are an error.
func Read(r io.Reader, sizeHint int64) ([]byte, error) {
	size := max(min(sizeHint, MaxModuleSize), 512)
	// One byte more than expected, so that a right hint ends with EOF and not
	// with a larger buffer.
	buf := large[byte](int(size) + 1 + Padding)
	for {
		room := cap(buf) - Padding
		if len(buf) == room {
			buf = append(large[byte](2*cap(buf)), buf...)
			continue
		}
		n, err := r.Read(buf[len(buf):room])
		buf = buf[:len(buf)+n]
		if len(buf) > MaxModuleSize {
			return nil, fmt.Errorf("module is larger than the limit of %d bytes", MaxModuleSize)
		}
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// large makes an empty slice for n elements that may need many pages.
func large[T any](n int) []T {
	s := make([]T, 0, n)
	adviseHuge(unsafe.Pointer(unsafe.SliceData(s)), n*int(unsafe.Sizeof(*new(T))))
	return s
}
