//go:build linux

package wasi

import (
	"context"

	"golang.org/x/sys/unix"
)

// entryAt resolves the parent of the path at (p, n) below the directory fd,
// for an operation on a name that needs the rights r and changes the
// directory. The caller closes the entry and releases the descriptor.
func (w *System) entryAt(m memory, fd uint32, r rights, p, n uint32) (*descriptor, entry, error) {
	d, err := w.files.getDir(fd, r)
	if err != nil {
		return nil, entry{}, err
	}
	path, err := m.path(p, n)
	if err == nil && d.readOnly {
		err = errnoROFS
	}
	var e entry
	if err == nil {
		e, err = d.entry(path)
	}
	if err != nil {
		d.release()
		return nil, entry{}, err
	}
	return d, e, nil
}

// pathCreateDirectory is path_create_directory(fd, path, path_len).
func (w *System) pathCreateDirectory(_ context.Context, m memory, a []uint64) error {
	d, e, err := w.entryAt(m, uint32(a[0]), rightPathCreateDirectory, uint32(a[1]), uint32(a[2]))
	if err != nil {
		return err
	}
	defer d.release()
	defer e.close()
	if e.dot {
		return errnoExist
	}
	_, err = retry(func() (int, error) { return 0, unix.Mkdirat(e.dir, e.name, 0o777) })
	return err
}

// pathRemoveDirectory is path_remove_directory(fd, path, path_len).
func (w *System) pathRemoveDirectory(_ context.Context, m memory, a []uint64) error {
	d, e, err := w.entryAt(m, uint32(a[0]), rightPathRemoveDirectory, uint32(a[1]), uint32(a[2]))
	if err != nil {
		return err
	}
	defer d.release()
	defer e.close()
	switch {
	case e.dot && e.name == ".":
		return errnoInval
	case e.dot:
		return errnoNotEmpty
	}
	_, err = retry(func() (int, error) { return 0, unix.Unlinkat(e.dir, e.name, unix.AT_REMOVEDIR) })
	return err
}

// pathUnlinkFile is path_unlink_file(fd, path, path_len).
func (w *System) pathUnlinkFile(_ context.Context, m memory, a []uint64) error {
	d, e, err := w.entryAt(m, uint32(a[0]), rightPathUnlinkFile, uint32(a[1]), uint32(a[2]))
	if err != nil {
		return err
	}
	defer d.release()
	defer e.close()
	if e.dot {
		return errnoIsDir
	}
	if e.slash {
		st, err := e.lstat()
		switch {
		case err != nil:
			return err
		case filetypeOf(st.Mode) == filetypeDirectory:
			return errnoIsDir
		}
		return errnoNotDir
	}
	_, err = retry(func() (int, error) { return 0, unix.Unlinkat(e.dir, e.name, 0) })
	return err
}

// pathRename is path_rename(fd, old_path, old_path_len, new_fd, new_path,
// new_path_len).
func (w *System) pathRename(_ context.Context, m memory, a []uint64) error {
	od, from, err := w.entryAt(m, uint32(a[0]), rightPathRenameSource, uint32(a[1]), uint32(a[2]))
	if err != nil {
		return err
	}
	defer od.release()
	defer from.close()
	nd, to, err := w.entryAt(m, uint32(a[3]), rightPathRenameTarget, uint32(a[4]), uint32(a[5]))
	if err != nil {
		return err
	}
	defer nd.release()
	defer to.close()
	if from.dot || to.dot {
		return errnoBusy
	}
	if from.slash || to.slash {
		st, err := from.lstat()
		switch {
		case err != nil:
			return err
		case filetypeOf(st.Mode) != filetypeDirectory:
			return errnoNotDir
		}
	}
	_, err = retry(func() (int, error) { return 0, unix.Renameat(from.dir, from.name, to.dir, to.name) })
	return err
}

// newName checks that an entry names something that link(2) could make.
func newName(e *entry) error {
	if e.dot {
		return errnoExist
	}
	if !e.slash {
		return nil
	}
	if _, err := e.lstat(); err != nil {
		return err
	}
	return errnoExist
}

// pathLink is path_link(old_fd, old_flags, old_path, old_path_len, new_fd,
// new_path, new_path_len).
func (w *System) pathLink(_ context.Context, m memory, a []uint64) error {
	nofollow, err := lookup(uint32(a[1]))
	if err != nil {
		return err
	}
	od, from, err := w.entryAt(m, uint32(a[0]), rightPathLinkSource, uint32(a[2]), uint32(a[3]))
	if err != nil {
		return err
	}
	defer od.release()
	defer from.close()
	nd, to, err := w.entryAt(m, uint32(a[4]), rightPathLinkTarget, uint32(a[5]), uint32(a[6]))
	if err != nil {
		return err
	}
	defer nd.release()
	defer to.close()
	var st unix.Stat_t
	if !from.dot {
		if st, err = from.lstat(); err != nil {
			return err
		}
	}
	switch {
	case from.dot || filetypeOf(st.Mode) == filetypeDirectory:
		return errnoPerm
	case from.slash:
		return errnoNotDir
	}
	if err := newName(&to); err != nil {
		return err
	}
	if nofollow != 0 || filetypeOf(st.Mode) != filetypeSymbolicLink {
		_, err = retry(func() (int, error) { return 0, unix.Linkat(from.dir, from.name, to.dir, to.name, 0) })
		return err
	}
	path, err := m.path(uint32(a[2]), uint32(a[3]))
	if err != nil {
		return err
	}
	return od.linkFollowed(path, &to)
}

// linkFollowed links what the symbolic link at path leads to. The kernel
// must not resolve the path again, so the file is opened first and linked by
// its descriptor.
func (d *descriptor) linkFollowed(path string, to *entry) error {
	fd, err := d.open(path, unix.O_PATH, 0)
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	_, err = retry(func() (int, error) { return 0, unix.Linkat(fd, "", to.dir, to.name, unix.AT_EMPTY_PATH) })
	if err == unix.ENOENT || err == unix.EINVAL || err == unix.EPERM {
		// The flag asks for a privilege; the descriptor's path does not.
		_, err = retry(func() (int, error) {
			return 0, unix.Linkat(unix.AT_FDCWD, fdPath(fd), to.dir, to.name, unix.AT_SYMLINK_FOLLOW)
		})
	}
	return err
}

// pathSymlink is path_symlink(old_path, old_path_len, fd, new_path,
// new_path_len). The target is text; where it may lead is checked when it is
// followed. An absolute one could only mislead programs of the host.
func (w *System) pathSymlink(_ context.Context, m memory, a []uint64) error {
	target, err := m.path(uint32(a[0]), uint32(a[1]))
	if err != nil {
		return err
	}
	d, e, err := w.entryAt(m, uint32(a[2]), rightPathSymlink, uint32(a[3]), uint32(a[4]))
	if err != nil {
		return err
	}
	defer d.release()
	defer e.close()
	if target[0] == '/' && !d.underRoot {
		return errnoNotCapable
	}
	if err := newName(&e); err != nil {
		return err
	}
	_, err = retry(func() (int, error) { return 0, unix.Symlinkat(target, e.dir, e.name) })
	return err
}

// pathReadlink is path_readlink(fd, path, path_len, buf, buf_len, *bufused).
// A target that is longer than the buffer is cut.
func (w *System) pathReadlink(_ context.Context, m memory, a []uint64) error {
	fd, err := w.openPath(m, uint32(a[0]), rightPathReadlink, unix.O_NOFOLLOW, uint32(a[1]), uint32(a[2]))
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	buf, err := m.slice(uint32(a[3]), uint32(a[4]))
	if err != nil {
		return err
	}
	used, err := m.slice(uint32(a[5]), 4)
	if err != nil {
		return err
	}
	target, err := readlinkAt(fd, "")
	if err == unix.ENOENT {
		err = errnoInval // what the kernel says of an open file that is no link
	}
	if err != nil {
		return err
	}
	put32(used, uint32(copy(buf, target)))
	return nil
}

// openPath opens the path at (p, n) below the directory fd for metadata only
// (O_PATH), with further flags.
func (w *System) openPath(m memory, fd uint32, r rights, flags int, p, n uint32) (int, error) {
	d, err := w.files.getDir(fd, r)
	if err != nil {
		return -1, err
	}
	defer d.release()
	path, err := m.path(p, n)
	if err != nil {
		return -1, err
	}
	if d.readOnly && r&rightPathFilestatSetTimes != 0 {
		return -1, errnoROFS
	}
	return d.open(path, unix.O_PATH|flags, 0)
}

// pathFilestatGet is path_filestat_get(fd, flags, path, path_len, *filestat).
func (w *System) pathFilestatGet(_ context.Context, m memory, a []uint64) error {
	return w.pathFilestat(m, a, filestatSize)
}

// pathFilestatGetUnstable is path_filestat_get of wasi_unstable.
func (w *System) pathFilestatGetUnstable(_ context.Context, m memory, a []uint64) error {
	return w.pathFilestat(m, a, filestatSizeUnstable)
}

func (w *System) pathFilestat(m memory, a []uint64, size uint32) error {
	flags, err := lookup(uint32(a[1]))
	if err != nil {
		return err
	}
	out, err := m.slice(uint32(a[4]), size)
	if err != nil {
		return err
	}
	fd, err := w.openPath(m, uint32(a[0]), rightPathFilestatGet, flags, uint32(a[2]), uint32(a[3]))
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	var st unix.Stat_t
	if err := unix.Fstat(fd, &st); err != nil {
		return err
	}
	putFilestat(out, &st, filetypeOf(st.Mode))
	return nil
}

// pathFilestatSetTimes is path_filestat_set_times(fd, flags, path, path_len,
// atim, mtim, fst_flags).
func (w *System) pathFilestatSetTimes(_ context.Context, m memory, a []uint64) error {
	flags, err := lookup(uint32(a[1]))
	if err != nil {
		return err
	}
	ts, err := fileTimes(a[4], a[5], uint32(a[6]))
	if err != nil {
		return err
	}
	fd, err := w.openPath(m, uint32(a[0]), rightPathFilestatSetTimes, flags, uint32(a[2]), uint32(a[3]))
	if err != nil {
		return err
	}
	defer unix.Close(fd)
	return setTimes(fd, ts)
}
