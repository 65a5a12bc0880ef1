//go:build linux

package wasi

import (
	"io"
	"os"
	"sync"
	"sync/atomic"

	"golang.org/x/sys/unix"
)

// File types (witx type filetype). A pipe has none of its own and is unknown.
const (
	filetypeUnknown uint8 = iota
	filetypeBlockDevice
	filetypeCharacterDevice
	filetypeDirectory
	filetypeRegular
	filetypeSocketDgram
	filetypeSocketStream
	filetypeSymbolicLink
)

// Descriptor flags (witx type fdflags).
const (
	fdflagAppend uint16 = 1 << iota
	fdflagDsync
	fdflagNonblock
	fdflagRsync
	fdflagSync
	allFdflags = fdflagSync<<1 - 1
)

// descriptor is an open file of the guest. It is counted: the table holds one
// reference and each call that uses it another, so that closing never pulls
// the host's descriptor from under a call that waits on it.
type descriptor struct {
	refs atomic.Int32

	fd     int       // host descriptor, -1 for a stream
	in     *stream   // standard input that is no file
	out    io.Writer // standard output that is no file
	source *os.File  // keeps a file of Config from being finalised

	filetype uint8
	// pollable descriptors may make a read or write wait: everything but
	// files, directories and disks.
	pollable bool
	seekable bool // has a position
	// owned descriptors have an open file description of their own, so its
	// flags may be changed. Pollable ones are then O_NONBLOCK on the host.
	owned bool
	noTry atomic.Bool // RWF_NOWAIT isn't supported

	readOnly  bool // below a read-only preopen
	walk      bool // resolve paths without openat2
	whole     bool // a preopen of the host's "/"
	underRoot bool // below such a preopen
	isPreopen bool
	preopen   string // guest name of a preopen

	mu               sync.Mutex // guards what follows
	flags            uint16
	base, inheriting rights
	dir              dirStream
}

// newDescriptor wraps fd, whose ownership it takes, even in failure. The base
// rights are cut to those that make sense for the file.
func newDescriptor(fd int, base, inheriting rights) (*descriptor, error) {
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		unix.Close(fd)
		return nil, err
	}
	d := &descriptor{fd: fd, filetype: filetypeOf(st.Mode)}
	applicable := fileRights
	switch d.filetype {
	case filetypeDirectory:
		applicable = dirRights
	case filetypeRegular, filetypeBlockDevice:
	case filetypeSocketStream:
		applicable, d.pollable = socketRights, true
		if t, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE); err == nil && t == unix.SOCK_DGRAM {
			d.filetype = filetypeSocketDgram
		}
	case filetypeCharacterDevice:
		d.pollable = true
		if _, err := unix.IoctlGetTermios(fd, unix.TCGETS); err == nil {
			applicable = streamRights
		}
	default:
		applicable, d.pollable = streamRights, true
	}
	d.seekable = applicable&rightFdSeek != 0
	d.base, d.inheriting = base&applicable, inheriting&allRights
	if d.filetype != filetypeDirectory {
		d.inheriting &= d.base
	}
	d.refs.Store(1)
	return d, nil
}

// newHost wraps a duplicate of f. The open file description stays shared with
// the host, so its flags are only read.
func newHost(f *os.File, base rights) (*descriptor, error) {
	rc, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	fd, flags := -1, 0
	cerr := rc.Control(func(n uintptr) {
		if fd, err = unix.FcntlInt(n, unix.F_DUPFD_CLOEXEC, 3); err == nil {
			flags, err = unix.FcntlInt(n, unix.F_GETFL, 0)
		}
	})
	if cerr != nil {
		return nil, cerr
	}
	if err != nil {
		if fd >= 0 {
			unix.Close(fd)
		}
		return nil, err
	}
	d, err := newDescriptor(fd, base, base)
	if err != nil {
		return nil, err
	}
	if flags&unix.O_APPEND != 0 {
		d.flags = fdflagAppend
	}
	d.source = f
	return d, nil
}

func newInput(r io.Reader) (*descriptor, error) {
	if f, ok := r.(*os.File); ok && f != nil {
		d, err := newHost(f, allRights)
		if err == nil && d.filetype != filetypeSocketStream && d.filetype != filetypeSocketDgram {
			d.base &^= rightFdWrite | rightFdAllocate | rightFdFilestatSetSize
		}
		return d, err
	}
	d := &descriptor{fd: -1, in: newStream(r), base: streamRights &^ rightFdWrite}
	d.refs.Store(1)
	return d, nil
}

func newOutput(out io.Writer) (*descriptor, error) {
	if f, ok := out.(*os.File); ok && f != nil {
		d, err := newHost(f, allRights)
		if err == nil && d.filetype != filetypeSocketStream && d.filetype != filetypeSocketDgram {
			d.base &^= rightFdRead
		}
		return d, err
	}
	if out == nil {
		out = io.Discard
	}
	d := &descriptor{fd: -1, out: out, base: streamRights &^ rightFdRead}
	d.refs.Store(1)
	return d, nil
}

// release gives a reference back and closes with the last one.
func (d *descriptor) release() {
	if d.refs.Add(-1) == 0 && d.fd >= 0 {
		unix.Close(d.fd)
	}
}

// allows reports whether the descriptor has the rights r.
func (d *descriptor) allows(r rights) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.base&r == r
}

func (d *descriptor) has(flag uint16) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.flags&flag != 0
}

func filetypeOf(mode uint32) uint8 {
	switch mode & unix.S_IFMT {
	case unix.S_IFREG:
		return filetypeRegular
	case unix.S_IFDIR:
		return filetypeDirectory
	case unix.S_IFLNK:
		return filetypeSymbolicLink
	case unix.S_IFCHR:
		return filetypeCharacterDevice
	case unix.S_IFBLK:
		return filetypeBlockDevice
	case unix.S_IFSOCK:
		return filetypeSocketStream
	}
	return filetypeUnknown
}

// retry repeats a host operation that a signal interrupted.
func retry(f func() (int, error)) (int, error) {
	for {
		n, err := f()
		if err != unix.EINTR {
			return n, err
		}
	}
}
