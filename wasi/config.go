//go:build linux

package wasi

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/sys/unix"
)

const defaultMaxFiles = 1 << 16

// System is the WASI side of one guest. Its functions may be called from
// several goroutines.
type System struct {
	args, env []string
	clock     hostClock
	virtual   Clock // nil: clock and timers are the host's
	random    io.Reader
	files     table
}

// New checks c and opens its directories. Close gives back what it opened.
func New(c Config) (*System, error) {
	w := &System{args: c.Args, env: c.Env, virtual: c.Clock, random: c.Random}
	for _, s := range c.Args {
		if strings.IndexByte(s, 0) >= 0 {
			return nil, fmt.Errorf("wasi: argument %q holds a NUL byte", s)
		}
	}
	for _, s := range c.Env {
		if strings.IndexByte(s, 0) >= 0 || strings.IndexByte(s, '=') <= 0 {
			return nil, fmt.Errorf("wasi: environment entry %q is not of the form KEY=value", s)
		}
	}
	if stringsSize(c.Args) > maxStrings || stringsSize(c.Env) > maxStrings {
		return nil, errors.New("wasi: arguments or environment are larger than 1 GiB")
	}
	w.clock.start()
	w.files.limit = c.MaxFiles
	if w.files.limit <= 0 {
		w.files.limit = defaultMaxFiles
	}
	if err := w.openAll(&c); err != nil {
		w.Close()
		return nil, err
	}
	return w, nil
}

func (w *System) openAll(c *Config) error {
	if c.MaxFiles > 0 && c.MaxFiles < 3+len(c.Preopens)+len(c.Sockets) {
		return fmt.Errorf("wasi: a limit of %d descriptors is less than the guest starts with", c.MaxFiles)
	}
	in, err := newInput(c.Stdin)
	if err != nil {
		return fmt.Errorf("wasi: standard input: %w", err)
	}
	if _, err := w.files.add(in); err != nil {
		return err
	}
	for i, out := range []io.Writer{c.Stdout, c.Stderr} {
		d, err := newOutput(out)
		if err != nil {
			return fmt.Errorf("wasi: standard %s: %w", [...]string{"output", "error"}[i], err)
		}
		if _, err := w.files.add(d); err != nil {
			return err
		}
	}
	for _, p := range c.Preopens {
		d, err := newPreopen(p)
		if err != nil {
			return err
		}
		if _, err := w.files.add(d); err != nil {
			return err
		}
	}
	for i, s := range c.Sockets {
		if s == nil {
			return fmt.Errorf("wasi: socket %d is nil", i)
		}
		d, err := newHost(s, socketRights)
		if err != nil {
			return fmt.Errorf("wasi: socket %s: %w", s.Name(), err)
		}
		if _, err := w.files.add(d); err != nil {
			return err
		}
		if d.filetype != filetypeSocketStream && d.filetype != filetypeSocketDgram {
			return fmt.Errorf("wasi: %s is not a socket", s.Name())
		}
	}
	return nil
}

// Close closes the guest's descriptors. Calls that are under way finish
// first with theirs; later ones get EBADF. The files of Config stay open.
func (w *System) Close() error {
	w.files.closeAll()
	return nil
}

// newPreopen opens the directory of p.
func newPreopen(p Preopen) (*descriptor, error) {
	fd, err := retry(func() (int, error) {
		return unix.Open(p.Host, unix.O_RDONLY|unix.O_DIRECTORY|unix.O_CLOEXEC, 0)
	})
	if err != nil {
		return nil, fmt.Errorf("wasi: directory %s: %w", p.Host, err)
	}
	if err := refuseProc(fd); err != nil {
		unix.Close(fd)
		return nil, fmt.Errorf("wasi: directory %s is on a procfs, which gives access to the host process", p.Host)
	}
	d, err := newDescriptor(fd, dirRights, allRights)
	if err != nil {
		return nil, fmt.Errorf("wasi: directory %s: %w", p.Host, err)
	}
	d.owned, d.preopen, d.isPreopen, d.readOnly = true, p.Guest, true, p.ReadOnly
	if d.preopen == "" {
		d.preopen = p.Host
	}
	d.walk = !haveOpenat2(fd)
	d.whole = isHostRoot(fd)
	d.underRoot = d.whole
	return d, nil
}

// isHostRoot reports whether fd is the root directory of this process, above
// which there is nothing.
func isHostRoot(fd int) bool {
	var a, b unix.Stat_t
	return unix.Fstat(fd, &a) == nil && unix.Stat("/", &b) == nil && a.Dev == b.Dev && a.Ino == b.Ino &&
		sameMount(fd)
}

// sameMount reports whether the parent of fd is fd itself: a bind mount of
// the root directory elsewhere has the same inode but a parent of its own.
func sameMount(fd int) bool {
	var a, b unix.Stat_t
	return unix.Fstat(fd, &a) == nil && unix.Fstatat(fd, "..", &b, 0) == nil && a.Dev == b.Dev && a.Ino == b.Ino
}
