package wasi

import (
	"context"
	"fmt"
	"io"
	"os"
	"time"
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
	// Stdout and Stderr are written to. An *os.File is duplicated, and waiting
	// for it can be cancelled; another writer's Write is waited for, and must
	// not keep the slice. Nil discards.
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
