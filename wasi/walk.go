//go:build linux

package wasi

import (
	"strings"

	"golang.org/x/sys/unix"
)

// Bounds of a walk: symbolic links as in Linux, directories held open at a
// time, and the length that a path may grow to through links.
const (
	walkLinks = 40
	walkDepth = 256
	walkPath  = 1 << 16
)

// walker resolves a path one component at a time where openat2 is missing.
// It holds every directory on the way open, so that ".." is the directory it
// came from, whatever is renamed meanwhile, and it opens each component
// without following links, which it expands itself.
type walker struct {
	d    *descriptor
	dirs []int // below d.fd, outermost first
	rest string
	link int
}

func (w *walker) cur() int {
	if n := len(w.dirs); n > 0 {
		return w.dirs[n-1]
	}
	return w.d.fd
}

func (w *walker) pop(to int) {
	for _, fd := range w.dirs[to:] {
		unix.Close(fd)
	}
	w.dirs = w.dirs[:to]
}

// openWalk is openBeneath by walking. The procfs check is made on each
// directory before anything in it is looked at, so links there, magic or not,
// are never read.
func (d *descriptor) openWalk(path string, flags int, mode uint32) (int, error) {
	w := walker{d: d, rest: path}
	defer w.pop(0)
	for {
		w.rest = strings.TrimLeft(w.rest, "/")
		if w.rest == "" {
			return w.here(flags)
		}
		name, rest, _ := strings.Cut(w.rest, "/")
		slash := len(name) < len(w.rest)
		last := strings.Trim(rest, "/") == ""
		switch name {
		case ".":
			w.rest = rest
			continue
		case "..":
			if len(w.dirs) > 0 {
				w.pop(len(w.dirs) - 1)
			} else if !d.whole {
				return -1, errnoNotCapable
			}
			w.rest = rest
			continue
		}
		target, err := readlinkAt(w.cur(), name)
		switch {
		case err == nil:
			if last && !slash {
				if flags&unix.O_EXCL != 0 && flags&unix.O_CREAT != 0 {
					return -1, unix.EEXIST
				}
				if flags&unix.O_NOFOLLOW != 0 {
					return w.linkItself(name, flags)
				}
			}
			if slash {
				target += "/" + rest
			}
			if err := w.expand(target); err != nil {
				return -1, err
			}
			continue
		case err != unix.EINVAL && err != unix.ENOENT:
			return -1, err
		}
		if last && !slash {
			fd, again, err := w.final(name, flags, mode)
			if again && w.link < walkLinks {
				w.link++
				continue
			}
			return fd, err
		}
		if last && flags&unix.O_CREAT != 0 {
			return -1, unix.EISDIR
		}
		if err := w.enter(name); err != nil {
			return -1, err
		}
		w.rest = rest
	}
}

// here opens the directory that the walk ended in.
func (w *walker) here(flags int) (int, error) {
	if flags&unix.O_CREAT != 0 {
		if flags&unix.O_EXCL != 0 {
			return -1, unix.EEXIST
		}
		return -1, unix.EISDIR
	}
	return retry(func() (int, error) { return unix.Openat(w.cur(), ".", flags, 0) })
}

// linkItself opens the symbolic link name, which only O_PATH can.
func (w *walker) linkItself(name string, flags int) (int, error) {
	if flags&unix.O_DIRECTORY != 0 {
		return -1, unix.ENOTDIR
	}
	if flags&unix.O_PATH == 0 {
		return -1, unix.ELOOP
	}
	return retry(func() (int, error) { return unix.Openat(w.cur(), name, flags, 0) })
}

// expand puts the target of a link before what is left of the path.
func (w *walker) expand(target string) error {
	if w.link++; w.link > walkLinks {
		return unix.ELOOP
	}
	if len(target) > walkPath {
		return unix.ENAMETOOLONG
	}
	if strings.HasPrefix(target, "/") {
		if !w.d.whole {
			return errnoNotCapable
		}
		w.pop(0)
	}
	w.rest = target
	return nil
}

// final opens the last component, which was no link a moment ago; again
// reports that it has become one and has to be expanded.
func (w *walker) final(name string, flags int, mode uint32) (fd int, again bool, err error) {
	fd, err = retry(func() (int, error) {
		return unix.Openat(w.cur(), name, flags|unix.O_NOFOLLOW, mode)
	})
	follow := flags&unix.O_NOFOLLOW == 0
	if err != nil {
		return -1, follow && err == unix.ELOOP, err
	}
	if follow && flags&unix.O_PATH != 0 {
		var st unix.Stat_t
		if err := unix.Fstat(fd, &st); err != nil {
			unix.Close(fd)
			return -1, false, err
		}
		if st.Mode&unix.S_IFMT == unix.S_IFLNK {
			unix.Close(fd)
			return -1, true, unix.ELOOP
		}
	}
	return fd, false, nil
}

// enter steps into the directory name.
func (w *walker) enter(name string) error {
	if len(w.dirs) == walkDepth {
		return unix.ENAMETOOLONG
	}
	fd, err := retry(func() (int, error) {
		return unix.Openat(w.cur(), name, unix.O_PATH|unix.O_DIRECTORY|unix.O_NOFOLLOW|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return err
	}
	if err := refuseProc(fd); err != nil {
		unix.Close(fd)
		return err
	}
	w.dirs = append(w.dirs, fd)
	return nil
}

// readlinkAt reads the link name in dir; EINVAL says it is none. An empty name
// is the link that dir itself is, opened with O_PATH.
func readlinkAt(dir int, name string) (string, error) {
	buf := make([]byte, maxPath+1)
	n, err := retry(func() (int, error) { return unix.Readlinkat(dir, name, buf) })
	if err != nil {
		return "", err
	}
	return string(buf[:n]), nil
}
