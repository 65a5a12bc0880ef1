//go:build linux

package wasi

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// Flags of path lookups and of path_open (witx types lookupflags, oflags).
const (
	lookupFollow uint32 = 1

	oflagCreat     uint32 = 1
	oflagDirectory uint32 = 2
	oflagExcl      uint32 = 4
	oflagTrunc     uint32 = 8
	allOflags             = oflagTrunc<<1 - 1
)

// lookup checks lookupflags and returns the open flag they stand for.
func lookup(flags uint32) (int, error) {
	switch flags {
	case 0:
		return unix.O_NOFOLLOW, nil
	case lookupFollow:
		return 0, nil
	}
	return 0, errnoInval
}

// pathOpen is path_open(fd, dirflags, path, path_len, oflags, rights_base,
// rights_inheriting, fdflags, *fd).
func (w *System) pathOpen(ctx context.Context, m memory, a []uint64) error {
	d, err := w.files.getDir(uint32(a[0]), rightPathOpen)
	if err != nil {
		return err
	}
	defer d.release()
	path, err := m.path(uint32(a[2]), uint32(a[3]))
	if err != nil {
		return err
	}
	out, err := m.slice(uint32(a[8]), 4)
	if err != nil {
		return err
	}
	o := openRequest{
		oflags:     uint32(a[4]),
		base:       rights(a[5]) & allRights,
		inheriting: rights(a[6]) & allRights,
		fdflags:    uint32(a[7]),
	}
	flags, err := o.hostFlags(d, uint32(a[1]))
	if err != nil {
		return err
	}
	fd, err := d.openWaiting(ctx, path, flags, !o.has(fdflagNonblock))
	if err != nil {
		return err
	}
	file, err := d.child(fd, &o)
	if err != nil {
		return err
	}
	n, err := w.files.add(file)
	if err != nil {
		return err
	}
	put32(out, n)
	return nil
}

// openRequest is what path_open asks for.
type openRequest struct {
	oflags           uint32
	base, inheriting rights
	fdflags          uint32
}

func (o *openRequest) has(flag uint16) bool { return o.fdflags&uint32(flag) != 0 }

// hostFlags checks the request against the directory d and returns the flags
// for open(2).
func (o *openRequest) hostFlags(d *descriptor, dirflags uint32) (int, error) {
	flags, err := lookup(dirflags)
	if err != nil {
		return 0, err
	}
	create, trunc := o.oflags&oflagCreat != 0, o.oflags&oflagTrunc != 0
	write := o.base&rightFdWrite != 0
	if o.oflags > allOflags || o.fdflags > uint32(allFdflags) {
		return 0, errnoInval
	}
	d.mu.Lock()
	base, inheriting := d.base, d.inheriting
	d.mu.Unlock()
	switch {
	case o.base&^inheriting != 0,
		create && base&rightPathCreateFile == 0,
		// Who may write files below d may also empty them. Go's directory
		// handles rely on that: they ask for rights to write only.
		trunc && base&rightPathFilestatSetSize == 0 && !write:
		return 0, errnoNotCapable
	case d.readOnly && (write || create || trunc):
		return 0, errnoROFS
	}
	if o.oflags&oflagDirectory != 0 {
		switch {
		case create || trunc || o.oflags&oflagExcl != 0:
			return 0, errnoInval
		case write:
			return 0, errnoIsDir
		}
		return flags | unix.O_DIRECTORY | unix.O_RDONLY, nil
	}
	switch read := o.base&(rightFdRead|rightFdReaddir) != 0; {
	case read && (write || trunc):
		flags |= unix.O_RDWR
	case write || trunc:
		flags |= unix.O_WRONLY
	}
	if create {
		flags |= unix.O_CREAT
		if o.oflags&oflagExcl != 0 {
			flags |= unix.O_EXCL
		}
	}
	if trunc {
		flags |= unix.O_TRUNC
	}
	if o.has(fdflagAppend) {
		flags |= unix.O_APPEND
	}
	return flags | unix.O_NONBLOCK, nil
}

// fifoRetry is how often a pipe without a reader is tried again.
const fifoRetry = 5 * time.Millisecond

// openWaiting opens without ever blocking in the kernel, where a context
// couldn't end it. Opening a named pipe for writing waits for a reader, so it
// is tried until there is one.
func (d *descriptor) openWaiting(ctx context.Context, path string, flags int, wait bool) (int, error) {
	for {
		fd, err := d.open(path, flags, 0o666)
		if err != unix.ENXIO || !wait || flags&unix.O_ACCMODE != unix.O_WRONLY || !d.isFIFO(path, flags) {
			return fd, err
		}
		t := time.NewTimer(fifoRetry)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return -1, ctx.Err()
		}
	}
}

// isFIFO reports whether path is a named pipe.
func (d *descriptor) isFIFO(path string, flags int) bool {
	fd, err := d.open(path, unix.O_PATH|flags&unix.O_NOFOLLOW, 0)
	if err != nil {
		return false
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	return unix.Fstat(fd, &st) == nil && st.Mode&unix.S_IFMT == unix.S_IFIFO
}

// child makes the descriptor of a file that was opened below d.
func (d *descriptor) child(fd int, o *openRequest) (*descriptor, error) {
	f, err := newDescriptor(fd, o.base, 0)
	if err != nil {
		return nil, err
	}
	if f.filetype == filetypeDirectory {
		d.mu.Lock()
		f.inheriting = o.inheriting & d.inheriting
		// Programs list directories that they opened without asking for it,
		// which no other engine notices.
		f.base |= rightFdReaddir & d.inheriting
		d.mu.Unlock()
	} else {
		f.inheriting = o.inheriting & f.base
	}
	f.owned = true
	f.flags = uint16(o.fdflags)
	f.readOnly, f.walk, f.underRoot = d.readOnly, d.walk, d.underRoot
	return f, nil
}
