//go:build linux

package wasi

import "context"

// maxStrings bounds the arguments and the environment in bytes, so that their
// sizes fit 32 bits with room to spare.
const maxStrings = 1 << 30

// stringsSize is the length of the strings with a NUL after each.
func stringsSize(list []string) int {
	n := 0
	for _, s := range list {
		n += len(s) + 1
	}
	return n
}

// argsGet is args_get(argv, argv_buf).
func (w *System) argsGet(_ context.Context, m memory, a []uint64) error {
	return putStrings(m, w.args, uint32(a[0]), uint32(a[1]))
}

// argsSizesGet is args_sizes_get(*argc, *argv_buf_size).
func (w *System) argsSizesGet(_ context.Context, m memory, a []uint64) error {
	return putSizes(m, w.args, uint32(a[0]), uint32(a[1]))
}

// environGet is environ_get(environ, environ_buf).
func (w *System) environGet(_ context.Context, m memory, a []uint64) error {
	return putStrings(m, w.env, uint32(a[0]), uint32(a[1]))
}

// environSizesGet is environ_sizes_get(*count, *buf_size).
func (w *System) environSizesGet(_ context.Context, m memory, a []uint64) error {
	return putSizes(m, w.env, uint32(a[0]), uint32(a[1]))
}

// putStrings writes the strings, each with a NUL, to buf and their addresses
// to ptrs.
func putStrings(m memory, list []string, ptrs, buf uint32) error {
	p, err := m.array(ptrs, uint32(len(list)), 4)
	if err != nil {
		return err
	}
	b, err := m.slice(buf, uint32(stringsSize(list)))
	if err != nil {
		return err
	}
	at := 0
	for i, s := range list {
		put32(p[4*i:], buf+uint32(at))
		copy(b[at:], s)
		at += len(s) + 1
		b[at-1] = 0
	}
	return nil
}

func putSizes(m memory, list []string, count, size uint32) error {
	c, err := m.slice(count, 4)
	if err != nil {
		return err
	}
	s, err := m.slice(size, 4)
	if err != nil {
		return err
	}
	put32(c, uint32(len(list)))
	put32(s, uint32(stringsSize(list)))
	return nil
}
