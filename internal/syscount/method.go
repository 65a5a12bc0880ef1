package syscount

import (
	"errors"
	"fmt"
)

// Method is a way to count.
type Method uint8

// ORDER: methods.
const (
	// Auto takes the first that works of Perf and Seccomp.
	Auto Method = iota
	Perf
	Seccomp
	Off
)

var methods = [...]string{"auto", "perf", "seccomp", "off"}

// String is the name that ParseMethod reads.
func (m Method) String() string { return methods[m] }

// ParseMethod gives the method of a name.
func ParseMethod(s string) (Method, error) {
	for i, name := range methods {
		if s == name {
			return Method(i), nil
		}
	}
	return Off, fmt.Errorf("%q is none of auto, perf, seccomp and off", s)
}

// ErrSecond is the error of a second seccomp counter in a process: the first
// filter stays and would count every call twice.
var ErrSecond = errors.New("a seccomp counter has been opened in this process before")

// Counter counts the calls of the process from the moment it was opened.
type Counter struct {
	method Method
	read   func() (Counts, error)
	close  func() error
	thread func() (*Counter, error)
	counts [NumCalls]bool
}

// Method is how c counts: Perf or Seccomp.
func (c *Counter) Method() Method { return c.method }

// Counts reports whether c counts calls of kind k; a kernel may lack a call.
func (c *Counter) Counts(k Call) bool { return c.counts[k] }

// Read gives the number of calls so far. A call that another thread is just
// entering may be in it or not.
func (c *Counter) Read() (Counts, error) { return c.read() }

// Thread starts to count the same calls of the calling thread alone, which the
// caller has locked its goroutine to. Only Perf can.
func (c *Counter) Thread() (*Counter, error) {
	if c.thread == nil {
		return nil, fmt.Errorf("calls can't be counted by thread with %v: %w", c.method, errors.ErrUnsupported)
	}
	return c.thread()
}

// Close ends the counting, except that a seccomp filter stays for the life of
// the process.
func (c *Counter) Close() error { return c.close() }

// OpenPerf starts counting the given calls with tracepoints, all kinds if none
// is given. The error says which right or file is missing. Each kind makes
// every call of the process a little slower. When the last user of a tracepoint
// closes it or ends, the kernel makes it wait for some 40 ms; all kinds share
// one, but those that TracepointEnv names.
func OpenPerf(calls ...Call) (*Counter, error) {
	if len(calls) == 0 {
		calls = Calls()
	}
	return openPerf(calls)
}

// OpenSeccomp starts counting with a filter that can't be taken away again,
// and which children of the process inherit without its handler: they would
// be killed by their first counted call. The error says what is missing.
func OpenSeccomp() (*Counter, error) { return openSeccomp() }

// Hold keeps tracepoints, all if none is given, in use without counting until
// the process ends. Other processes that count with them then end without the
// delay that OpenPerf describes: a program that starts many of them calls Hold
// first. The error is that of OpenPerf in such a process.
func Hold(calls ...Call) error {
	if len(calls) == 0 {
		calls = Calls()
	}
	return hold(calls)
}
