//go:build linux

package wasi

import (
	"encoding/binary"
	"strings"
	"unicode/utf8"
)

// memory is the guest's linear memory for the length of one call. Addresses
// and lengths come from the guest as 32 bits and are added in 64, so no sum
// wraps.
type memory []byte

// slice returns n bytes at address p, or EFAULT.
func (m memory) slice(p, n uint32) ([]byte, error) {
	end := uint64(p) + uint64(n)
	if end > uint64(len(m)) {
		return nil, errnoFault
	}
	return m[p:end:end], nil
}

// array returns count elements of size bytes each at address p, or EFAULT.
func (m memory) array(p, count, size uint32) ([]byte, error) {
	n := uint64(count) * uint64(size)
	if uint64(p)+n > uint64(len(m)) {
		return nil, errnoFault
	}
	return m[p : uint64(p)+n : uint64(p)+n], nil
}

// maxPath is Linux's PATH_MAX without the final NUL: no longer path can be
// valid, so no longer one is copied.
const maxPath = 4095

// path copies a path out of the guest's memory and checks what can be
// checked without a file system.
func (m memory) path(p, n uint32) (string, error) {
	b, err := m.slice(p, n)
	switch {
	case err != nil:
		return "", err
	case n == 0:
		return "", errnoNoEnt
	case n > maxPath:
		return "", errnoNameTooLong
	}
	s := string(b)
	if strings.IndexByte(s, 0) >= 0 {
		return "", errnoInval
	}
	if !utf8.ValidString(s) {
		return "", errnoIlseq
	}
	return s, nil
}

// maxVectors bounds the buffers of one read or write, as IOV_MAX does on Linux.
const maxVectors = 1024

// maxTransfer bounds the bytes of one read or write, as on Linux, so that the
// count fits the 32 bits it is returned in.
const maxTransfer = 0x7ffff000

// vectors is a list of buffers in the guest's memory.
type vectors struct {
	list  [][]byte
	one   [1][]byte // backs list in the common case
	total int
}

// read checks count iovec records at p and collects the buffers that they
// name: empty ones are left out and the total is cut to maxTransfer.
func (v *vectors) read(m memory, p, count uint32) error {
	if count > maxVectors {
		return errnoInval
	}
	recs, err := m.array(p, count, 8)
	if err != nil {
		return err
	}
	v.list = v.one[:0]
	for ; len(recs) > 0; recs = recs[8:] {
		b, err := m.slice(binary.LittleEndian.Uint32(recs), binary.LittleEndian.Uint32(recs[4:]))
		if err != nil {
			return err
		}
		b = b[:min(len(b), maxTransfer-v.total)]
		if len(b) == 0 {
			continue
		}
		v.list = append(v.list, b)
		v.total += len(b)
	}
	return nil
}

// advance drops the first n bytes.
func (v *vectors) advance(n int) {
	v.total -= n
	for n > 0 {
		if n < len(v.list[0]) {
			v.list[0] = v.list[0][n:]
			return
		}
		n -= len(v.list[0])
		v.list = v.list[1:]
	}
}

func put16(b []byte, v uint16) { binary.LittleEndian.PutUint16(b, v) }
func put32(b []byte, v uint32) { binary.LittleEndian.PutUint32(b, v) }
func put64(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }
func get16(b []byte) uint16    { return binary.LittleEndian.Uint16(b) }
func get32(b []byte) uint32    { return binary.LittleEndian.Uint32(b) }
func get64(b []byte) uint64    { return binary.LittleEndian.Uint64(b) }
