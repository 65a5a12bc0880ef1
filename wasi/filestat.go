//go:build linux

package wasi

import (
	"context"
	"strconv"

	"golang.org/x/sys/unix"
)

const (
	filestatSize         = 64
	filestatSizeUnstable = 56 // nlink has 32 bits
)

// putFilestat writes st in the layout of witx type filestat, preview 1's or,
// by the length of b, wasi_unstable's.
func putFilestat(b []byte, st *unix.Stat_t, filetype uint8) {
	clear(b)
	put64(b, uint64(st.Dev))
	put64(b[8:], st.Ino)
	b[16] = filetype
	if len(b) == filestatSizeUnstable {
		put32(b[20:], uint32(min(uint64(st.Nlink), 1<<32-1)))
		b = b[24:]
	} else {
		put64(b[24:], uint64(st.Nlink))
		b = b[32:]
	}
	put64(b, uint64(st.Size))
	put64(b[8:], uint64(st.Atim.Nano()))
	put64(b[16:], uint64(st.Mtim.Nano()))
	put64(b[24:], uint64(st.Ctim.Nano()))
}

// fdFilestatGet is fd_filestat_get(fd, *filestat).
func (w *System) fdFilestatGet(_ context.Context, m memory, a []uint64) error {
	return w.fdFilestat(m, a, filestatSize)
}

// fdFilestatGetUnstable is fd_filestat_get of wasi_unstable.
func (w *System) fdFilestatGetUnstable(_ context.Context, m memory, a []uint64) error {
	return w.fdFilestat(m, a, filestatSizeUnstable)
}

func (w *System) fdFilestat(m memory, a []uint64, size uint32) error {
	d, err := w.files.get(uint32(a[0]), rightFdFilestatGet)
	if err != nil {
		return err
	}
	defer d.release()
	out, err := m.slice(uint32(a[1]), size)
	if err != nil {
		return err
	}
	var st unix.Stat_t
	if d.fd >= 0 {
		if err := unix.Fstat(d.fd, &st); err != nil {
			return err
		}
	}
	putFilestat(out, &st, d.filetype)
	return nil
}

// fdFilestatSetSize is fd_filestat_set_size(fd, size).
func (w *System) fdFilestatSetSize(_ context.Context, _ memory, a []uint64) error {
	d, err := w.files.get(uint32(a[0]), 0)
	if err != nil {
		return err
	}
	defer d.release()
	switch {
	case d.filetype == filetypeDirectory:
		return errnoIsDir
	case !d.seekable || int64(a[1]) < 0:
		return errnoInval
	case d.readOnly:
		return errnoROFS
	case !d.allows(rightFdFilestatSetSize):
		return errnoNotCapable
	}
	_, err = retry(func() (int, error) { return 0, unix.Ftruncate(d.fd, int64(a[1])) })
	return err
}

// Flags of the set_times functions (witx type fstflags).
const (
	fstAtim uint32 = 1 << iota
	fstAtimNow
	fstMtim
	fstMtimNow
	allFst = fstMtimNow<<1 - 1
)

// fileTimes converts the arguments of the set_times functions for utimensat(2).
func fileTimes(atim, mtim uint64, flags uint32) ([]unix.Timespec, error) {
	if flags > allFst {
		return nil, errnoInval
	}
	ts := []unix.Timespec{{Nsec: unix.UTIME_OMIT}, {Nsec: unix.UTIME_OMIT}}
	for i, t := range [2]uint64{atim, mtim} {
		f := flags >> (2 * i)
		switch f & (fstAtim | fstAtimNow) {
		case fstAtim:
			ts[i] = unix.Timespec{Sec: int64(t / 1e9), Nsec: int64(t % 1e9)}
		case fstAtimNow:
			ts[i].Nsec = unix.UTIME_NOW
		case fstAtim | fstAtimNow:
			return nil, errnoInval
		}
	}
	return ts, nil
}

// setTimes sets the times of the open file fd, which may be an O_PATH one and
// a symbolic link.
func setTimes(fd int, ts []unix.Timespec) error {
	err := unix.UtimesNanoAt(fd, "", ts, unix.AT_EMPTY_PATH)
	if err == unix.EINVAL || err == unix.ENOENT {
		// Before Linux 5.8 the flag isn't known.
		return unix.UtimesNanoAt(unix.AT_FDCWD, fdPath(fd), ts, 0)
	}
	return err
}

// fdPath is a path of our own open file fd. It is for the host's use only.
func fdPath(fd int) string { return "/proc/self/fd/" + strconv.Itoa(fd) }

// fdFilestatSetTimes is fd_filestat_set_times(fd, atim, mtim, fst_flags).
func (w *System) fdFilestatSetTimes(_ context.Context, _ memory, a []uint64) error {
	d, err := w.files.get(uint32(a[0]), rightFdFilestatSetTimes)
	if err != nil {
		return err
	}
	defer d.release()
	ts, err := fileTimes(a[1], a[2], uint32(a[3]))
	switch {
	case err != nil:
		return err
	case d.fd < 0:
		return errnoInval
	case d.readOnly:
		return errnoROFS
	}
	return setTimes(d.fd, ts)
}
