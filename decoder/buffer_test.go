package decoder

import (
	"bytes"
	"math/rand/v2"
	"testing"
	"testing/iotest"
)

func TestReadSizes(t *testing.T) {
	r := rand.NewChaCha8([32]byte{})
	data := make([]byte, 9<<20)
	_, _ = r.Read(data)
	for _, size := range []int{0, 1, 511, 512, 4 << 20, 9 << 20} {
		for _, hint := range []int64{0, int64(size) / 2, int64(size), int64(size) + 1<<20} {
			got, err := Read(bytes.NewReader(data[:size]), hint)
			if err != nil || !bytes.Equal(got, data[:size]) {
				t.Fatalf("%d bytes, hint %d: %d bytes, %v", size, hint, len(got), err)
			}
			if cap(got)-len(got) < Padding {
				t.Errorf("%d bytes, hint %d: no padding", size, hint)
			}
		}
	}
	if got, err := Read(iotest.OneByteReader(bytes.NewReader(data[:3000])), 1); err != nil || !bytes.Equal(got, data[:3000]) {
		t.Errorf("byte by byte: %d bytes, %v", len(got), err)
	}
}
