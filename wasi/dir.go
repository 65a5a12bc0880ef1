//go:build linux

package wasi

import (
	"bytes"
	"context"
	"encoding/binary"

	"golang.org/x/sys/unix"
)

// dirStream is the reading position in a directory. Cookies are the offsets
// that the file system gives its entries: it finds its place by them even
// after entries came or went, and nothing has to be remembered here. The
// entries that one getdents64 call brought are kept, so that a guest's small
// buffer doesn't cost a call each.
type dirStream struct {
	buf   []byte
	data  []byte // the entries in buf
	at    int    // of the next entry, in data
	first uint64 // cookie of data's first entry; the kernel stands after the last
}

// dirBuffer is the size of the kernel's buffer; an entry takes at most 280 bytes.
const dirBuffer = 16 << 10

// Offsets in struct linux_dirent64.
const (
	direntOff    = 8
	direntReclen = 16
	direntType   = 18
	direntName   = 19
)

// direntHeader is the size of witx type dirent.
const direntHeader = 24

// fdReaddir is fd_readdir(fd, buf, buf_len, cookie, *bufused). The last entry
// is cut where the buffer ends; bufused < buf_len says that there are no more.
func (w *System) fdReaddir(ctx context.Context, m memory, a []uint64) error {
	d, err := w.files.getDir(uint32(a[0]), rightFdReaddir)
	if err != nil {
		return err
	}
	defer d.release()
	buf, err := m.slice(uint32(a[1]), uint32(a[2]))
	if err != nil {
		return err
	}
	used, err := m.slice(uint32(a[4]), 4)
	if err != nil {
		return err
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	s := &d.dir
	if err := s.seek(d.fd, a[3]); err != nil {
		return err
	}
	n := 0
	for n < len(buf) {
		if s.at == len(s.data) {
			if more, err := s.fill(d.fd); err != nil {
				return err
			} else if !more {
				break
			}
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		n += min(s.put(d.fd, buf[n:]), len(buf)-n)
		s.at += s.length(s.at)
	}
	put32(used, uint32(n))
	return nil
}

// length and cookie are those of the entry at offset i; the cookie names the
// place after it.
func (s *dirStream) length(i int) int {
	return int(binary.NativeEndian.Uint16(s.data[i+direntReclen:]))
}
func (s *dirStream) cookie(i int) uint64 { return binary.NativeEndian.Uint64(s.data[i+direntOff:]) }

// seek makes the entry at the cookie the next one: one of those at hand, or
// the kernel is asked. The beginning is always read anew, since a guest
// rewinds to see what changed.
func (s *dirStream) seek(fd int, cookie uint64) error {
	if cookie != 0 && s.buf != nil {
		i, c := 0, s.first
		for c != cookie && i < len(s.data) {
			c = s.cookie(i)
			i += s.length(i)
		}
		if c == cookie {
			s.at = i
			return nil
		}
	}
	if _, err := unix.Seek(fd, int64(cookie), unix.SEEK_SET); err != nil {
		return err
	}
	s.data, s.at, s.first = nil, 0, cookie
	return nil
}

// fill reads the entries from where the kernel stands.
func (s *dirStream) fill(fd int) (more bool, err error) {
	if s.buf == nil {
		s.buf = make([]byte, dirBuffer)
	}
	here := s.first
	for i := 0; i < len(s.data); i += s.length(i) {
		here = s.cookie(i)
	}
	n, err := retry(func() (int, error) { return unix.Getdents(fd, s.buf) })
	if err != nil || n == 0 {
		return false, err
	}
	s.data, s.at, s.first = s.buf[:n], 0, here
	return true, nil
}

// put writes the next entry as a witx dirent to b, as far as it fits, and
// returns its whole size.
func (s *dirStream) put(fd int, b []byte) int {
	e := s.data[s.at:][:s.length(s.at)]
	name := e[direntName:]
	if i := bytes.IndexByte(name, 0); i >= 0 {
		name = name[:i]
	}
	var h [direntHeader]byte
	put64(h[:], binary.NativeEndian.Uint64(e[direntOff:]))
	put64(h[8:], binary.NativeEndian.Uint64(e))
	put32(h[16:], uint32(len(name)))
	h[20] = direntFiletype(fd, e[direntType], name)
	n := copy(b, h[:])
	copy(b[n:], name)
	return direntHeader + len(name)
}

// direntFiletype converts a type of the kernel; some file systems leave it to
// be asked for.
func direntFiletype(fd int, t byte, name []byte) uint8 {
	if t == unix.DT_UNKNOWN {
		var st unix.Stat_t
		if unix.Fstatat(fd, string(name), &st, unix.AT_SYMLINK_NOFOLLOW) != nil {
			return filetypeUnknown
		}
		return filetypeOf(st.Mode)
	}
	return filetypeOf(uint32(t) << 12) // DT_ values are the type bits of a mode
}
