//go:build linux

package wasi

import (
	"context"
	"crypto/rand"
	"io"
)

// randomChunk is how much is filled between looks at the context.
const randomChunk = 1 << 20

// randomGet is random_get(buf, buf_len).
func (w *System) randomGet(ctx context.Context, m memory, a []uint64) error {
	b, err := m.slice(uint32(a[0]), uint32(a[1]))
	if err != nil {
		return err
	}
	src := w.random
	if src == nil {
		src = rand.Reader
	}
	for len(b) > 0 {
		n := min(len(b), randomChunk)
		if _, err := io.ReadFull(src, b[:n]); err != nil {
			return errnoIO
		}
		if err := ctx.Err(); err != nil {
			return err
		}
		b = b[n:]
	}
	return nil
}
