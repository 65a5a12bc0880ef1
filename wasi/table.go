//go:build linux

package wasi

import "sync"

// table maps the guest's descriptor numbers to open files. New files get the
// lowest free number, which POSIX promises and programs rely on.
type table struct {
	mu    sync.Mutex
	files []*descriptor
	free  int // no number below is free
	limit int
}

// add takes over the caller's reference to d and returns its number, or
// EMFILE, and then d is released.
func (t *table) add(d *descriptor) (uint32, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.free < len(t.files) && t.files[t.free] != nil {
		t.free++
	}
	n := t.free
	switch {
	case n < len(t.files):
		t.files[n] = d
	case n < t.limit:
		t.files = append(t.files, d)
	default:
		d.release()
		return 0, errnoMFile
	}
	t.free++
	return uint32(n), nil
}

// get returns the file at number fd with a reference that the caller
// releases, if it has all the rights r.
func (t *table) get(fd uint32, r rights) (*descriptor, error) {
	t.mu.Lock()
	if uint64(fd) >= uint64(len(t.files)) || t.files[fd] == nil {
		t.mu.Unlock()
		return nil, errnoBadF
	}
	d := t.files[fd]
	d.refs.Add(1)
	t.mu.Unlock()
	if !d.allows(r) {
		d.release()
		return nil, errnoNotCapable
	}
	return d, nil
}

// getDir is get for a directory that paths are resolved in.
func (t *table) getDir(fd uint32, r rights) (*descriptor, error) {
	d, err := t.get(fd, 0)
	if err != nil {
		return nil, err
	}
	if d.filetype != filetypeDirectory {
		err = errnoNotDir
	} else if !d.allows(r) {
		err = errnoNotCapable
	}
	if err != nil {
		d.release()
		return nil, err
	}
	return d, nil
}

// remove frees the number fd.
func (t *table) remove(fd uint32) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	if uint64(fd) >= uint64(len(t.files)) || t.files[fd] == nil {
		return errnoBadF
	}
	t.files[fd].release()
	t.files[fd] = nil
	t.free = min(t.free, int(fd))
	return nil
}

// renumber moves the file at from to the number to, whose file is closed.
func (t *table) renumber(from, to uint32) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := uint64(len(t.files))
	if uint64(from) >= n || uint64(to) >= n || t.files[from] == nil || t.files[to] == nil {
		return errnoBadF
	}
	if from == to {
		return nil
	}
	t.files[to].release()
	t.files[to], t.files[from] = t.files[from], nil
	t.free = min(t.free, int(from))
	return nil
}

func (t *table) closeAll() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, d := range t.files {
		if d != nil {
			d.release()
		}
	}
	t.files, t.limit, t.free = nil, 0, 0
}
