package codemem

import (
	"fmt"
	"strings"
)

// Mode says how code memory is protected against writes.
type Mode uint8

// ORDER: policies has a row per mode, in this order.
const (
	// Auto leaves the choice to the package: protection at no cost, as
	// Resolve describes. A space never has it: Space.Mode tells what was chosen.
	Auto Mode = iota
	// Seal maps code writable and not executable until one mprotect makes it
	// executable and read-only for good.
	Seal
	// Dual maps the pages of a memfd twice, at unrelated addresses: writable
	// and not executable, and executable and not writable. Nobody can make
	// another writable mapping, and the writable one is gone when its code is
	// published; that of the jump table is inaccessible outside of scopes.
	Dual
	// Off maps code readable, writable and executable from the start.
	Off
	// Fine makes all code writable and executable while any scope is open,
	// with the scopes where V8 9.2 had them: in each patch of a slot. For
	// comparison only.
	Fine
	// Hoisted does the same with the scopes where V8 9.3 had them: two a
	// batch. For comparison, and the fall-back for code that is patched.
	Hoisted
	// PKU uses memory protection keys: only the thread that is writing, only
	// while it writes, has the right to. In the page tables code is writable
	// and executable, so it is never chosen unasked.
	PKU
)

// String gives the name that ParseMode reads.
func (m Mode) String() string {
	if int(m) < len(policies) {
		return policies[m].name
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// ModeNames lists the names of the modes that can be asked for.
func ModeNames() []string {
	var names []string
	for _, m := range []Mode{Off, Fine, Hoisted, Seal, Dual, PKU} {
		names = append(names, m.String())
	}
	return names
}

// ModeError reports a mode that doesn't exist, or that this machine or the
// state of this process can't give.
type ModeError struct {
	Name string
	// Reason is why a mode can't be had, "" if there is no such mode.
	Reason string
	// Err is the system's error, if there was one.
	Err error
}

func (e *ModeError) Error() string {
	if e.Reason == "" {
		return fmt.Sprintf("unknown code protection mode %q; use %s", e.Name, strings.Join(ModeNames(), ", "))
	}
	s := fmt.Sprintf("code protection mode %s is not available: %s", e.Name, e.Reason)
	if e.Err != nil {
		s += fmt.Sprintf(" (%v)", e.Err)
	}
	return s
}

// Unwrap gives the system's error.
func (e *ModeError) Unwrap() error { return e.Err }

// ParseMode gives the mode of a name, or a *ModeError. It doesn't tell
// whether the machine can give it: see Check.
func ParseMode(name string) (Mode, error) {
	for m := range policies {
		if policies[m].name == name {
			return Mode(m), nil
		}
	}
	return Auto, &ModeError{Name: name}
}

// Resolve gives the mode that a space for code will have: m itself if it can
// be had, else a *ModeError. For Auto it chooses, the first that can be had:
//
//	code that is compiled ahead    seal, dual
//	code that is patched later     dual, hoisted
//
// Without memfd patched code thus falls back to V8's scopes; where memory
// that was written may never become executable, code that is compiled ahead
// falls back to dual. Off and PKU are never chosen.
func Resolve(m Mode, patched bool) (Mode, error) {
	if m != Auto {
		return m, Check(m)
	}
	chain := [...]Mode{Seal, Dual}
	if patched {
		chain = [...]Mode{Dual, Hoisted}
	}
	first := Check(chain[0])
	if first == nil || Check(chain[1]) != nil {
		return chain[0], first
	}
	return chain[1], nil
}
