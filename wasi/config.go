package wasi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Config says what a guest gets. The zero value is a guest without arguments,
// with an empty environment, an empty standard input, discarded output and no
// directories.
type Config struct {
	// Args are the arguments, the program's name first.
	Args []string
	// Env are the environment's entries, "KEY=value".
	Env []string

	// Stdin is read from on demand. A pipe, terminal, socket or file given as
	// an *os.File is duplicated and waited for with poll(2); any other reader
	// is read by a goroutine of its own, so that waiting for it can be
	// cancelled. Such a read may outlive the guest. Nil is an empty input.
	Stdin io.Reader
	// Stdout and Stderr are written to; an *os.File is duplicated. Nil
	// discards.
	Stdout, Stderr io.Writer

	// Preopens are the directories the guest starts with, as descriptors from
	// 3 up.
	Preopens []Preopen
	// Sockets follow them; a listening socket can be accepted from.
	Sockets []*os.File

	// MaxFiles bounds the guest's open descriptors; 0 means 65,536. The
	// host's own limit holds besides.
	MaxFiles int

	// Clock replaces the host's clocks, for runs that must not depend on
	// time. Nil uses the host's.
	Clock Clock
	// Random replaces the system's random numbers, for the same purpose.
	Random io.Reader
}

// Preopen is a directory of the host that a guest gets under a name of its own.
type Preopen struct {
	Host  string // the directory's path
	Guest string // its name for the guest; empty means Host
	// ReadOnly refuses every change below the directory with EROFS.
	ReadOnly bool
}

// Clock is a source of time. Its methods may be called from several goroutines.
type Clock interface {
	// Realtime is the time since 1970 in nanoseconds.
	Realtime() uint64
	// Monotonic never goes back; in nanoseconds.
	Monotonic() uint64
	// Sleep waits for d or until ctx ends, whose error it returns then.
	Sleep(ctx context.Context, d time.Duration) error
}

// ExitError is the error that a call into a guest ends with when the guest
// called proc_exit, whatever the code.
type ExitError struct{ Code uint32 }

func (e *ExitError) Error() string { return fmt.Sprintf("guest exited with code %d", e.Code) }

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
	for _, s := range c.Sockets {
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
