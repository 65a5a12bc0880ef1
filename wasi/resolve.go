//go:build linux

package wasi

import (
	"runtime"
	"strings"

	"golang.org/x/sys/unix"
)

// haveOpenat2 reports whether the kernel, and whatever filters its system
// calls, lets us resolve with openat2 (Linux 5.6). dir is an open directory.
func haveOpenat2(dir int) bool {
	fd, err := retry(func() (int, error) {
		return unix.Openat2(dir, ".", &unix.OpenHow{
			Flags:   unix.O_PATH | unix.O_DIRECTORY | unix.O_CLOEXEC,
			Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS,
		})
	})
	if err != nil {
		return false
	}
	unix.Close(fd)
	return true
}

// refuseProc returns EACCES if fd is on a procfs. It looks at the open file,
// so it holds for every path, link and mount that leads there.
func refuseProc(fd int) error {
	var st unix.Statfs_t
	for {
		err := unix.Fstatfs(fd, &st)
		if err == unix.EINTR {
			continue
		}
		if err != nil {
			return err
		}
		if st.Type == unix.PROC_SUPER_MAGIC {
			return errnoAcces
		}
		return nil
	}
}

// resolveTries bounds how often a lookup is repeated that the kernel gave up
// because directories moved while it resolved a "..".
const resolveTries = 128

// open opens path below the directory d with the host's open flags (which
// decide with O_NOFOLLOW whether a last symbolic link is followed). The result
// is never outside d and never on a procfs.
func (d *descriptor) open(path string, flags int, mode uint32) (int, error) {
	if path[0] == '/' {
		return -1, errnoNotCapable
	}
	flags |= unix.O_CLOEXEC
	if flags&unix.O_PATH == 0 {
		flags |= unix.O_NOCTTY
	}
	if flags&unix.O_CREAT == 0 {
		mode = 0
	}
	open := d.openBeneath
	if d.walk {
		open = d.openWalk
	}
	fd, err := open(path, flags, mode)
	if err != nil {
		return -1, err
	}
	if err := refuseProc(fd); err != nil {
		unix.Close(fd)
		return -1, err
	}
	return fd, nil
}

func (d *descriptor) openBeneath(path string, flags int, mode uint32) (int, error) {
	how := unix.OpenHow{
		Flags:   uint64(flags),
		Mode:    uint64(mode),
		Resolve: unix.RESOLVE_BENEATH | unix.RESOLVE_NO_MAGICLINKS,
	}
	if d.whole {
		how.Resolve = unix.RESOLVE_IN_ROOT | unix.RESOLVE_NO_MAGICLINKS
	}
	for try := 0; ; try++ {
		fd, err := unix.Openat2(d.fd, path, &how)
		switch {
		case err == nil:
			return fd, nil
		case err == unix.EINTR:
		case err == unix.EAGAIN && try < resolveTries:
			runtime.Gosched()
		case err == unix.EXDEV:
			return -1, errnoNotCapable
		default:
			return -1, err
		}
	}
}

// entry is a name in a directory: what operations on names, not on files,
// work on. The name is one component without a slash.
type entry struct {
	dir   int
	owned bool
	name  string
	// slash records that the path ended in slashes, so that the name has to
	// be a directory's.
	slash bool
	// dot records that the name is "." or "..", which names no entry that
	// could be made, moved or removed.
	dot bool
}

func (e *entry) close() {
	if e.owned {
		unix.Close(e.dir)
	}
}

// entry resolves the parent of path. The caller closes the entry.
func (d *descriptor) entry(path string) (entry, error) {
	name := strings.TrimRight(path, "/")
	e := entry{dir: d.fd, slash: len(name) < len(path)}
	if path[0] == '/' {
		return e, errnoNotCapable
	}
	parent := ""
	if i := strings.LastIndexByte(name, '/'); i >= 0 {
		parent, name = name[:i], name[i+1:]
	}
	if name == "." || name == ".." {
		// Resolved for the errors only: it may leave d or not exist.
		parent, e.dot = path, true
	}
	e.name = name
	if parent == "" {
		return e, nil
	}
	fd, err := d.open(parent, unix.O_PATH|unix.O_DIRECTORY, 0)
	if err != nil {
		return e, err
	}
	e.dir, e.owned = fd, true
	return e, nil
}

// lstat returns the metadata of the entry itself.
func (e *entry) lstat() (unix.Stat_t, error) {
	var st unix.Stat_t
	_, err := retry(func() (int, error) {
		return 0, unix.Fstatat(e.dir, e.name, &st, unix.AT_SYMLINK_NOFOLLOW)
	})
	return st, err
}
