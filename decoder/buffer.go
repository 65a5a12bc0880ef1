package decoder

import (
	"fmt"
	"io"
)

// Read reads a whole module into a buffer that has the padding Decode wants,
// so that Decode doesn't copy it. sizeHint is the expected size in bytes, 0 if
// unknown; it need not be right. More than MaxModuleSize bytes are an error.
func Read(r io.Reader, sizeHint int64) ([]byte, error) {
	size := max(min(sizeHint, MaxModuleSize), 512)
	// One byte more than expected, so that a right hint ends with EOF and not
	// with a larger buffer.
	buf := newBuffer(int(size) + 1 + Padding)
	for {
		room := cap(buf) - Padding
		if len(buf) == room {
			bigger := newBuffer(2 * cap(buf))
			buf = append(bigger, buf...)
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

// newBuffer makes an empty buffer for size bytes.
func newBuffer(size int) []byte {
	buf := make([]byte, 0, size)
	adviseHuge(buf[:size])
	return buf
}
