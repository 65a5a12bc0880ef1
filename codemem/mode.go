package codemem

import "fmt"

// Mode says how code memory is protected against writes.
type Mode uint8

// ORDER: the modes table has a row per mode, in this order.
const (
	// Seal maps code writable and not executable until one mprotect makes it
	// executable and read-only for good. The default.
	Seal Mode = iota
	// Off maps code readable, writable and executable from the start.
	Off
)

// modeRow is what a mode does at the two moments that matter to a space.
// NewSpace and Seal read this table and decide nothing themselves.
type modeRow struct {
	name   string
	filled prot // protection while chunks are written
	sealed prot // protection once sealed; a switch only if it differs
}

var modes = [...]modeRow{
	Seal: {"seal", protRW, protRX},
	Off:  {"off", protRWX, protRWX},
}

// laterModes are names of modes that the command line documents for the
// comparison with V8's pipelines and for patchable code.
var laterModes = [...]string{"fine", "hoisted", "dual", "pku"}

// String gives the name that ParseMode reads.
func (m Mode) String() string {
	if int(m) < len(modes) {
		return modes[m].name
	}
	return fmt.Sprintf("Mode(%d)", uint8(m))
}

// ModeError reports a mode name that ParseMode can't give a Mode for.
type ModeError struct {
	Name string
	// Known is set for a mode that exists by design but not in this version.
	Known bool
}

func (e *ModeError) Error() string {
	if e.Known {
		return fmt.Sprintf("code protection mode %q is not available yet; use seal or off", e.Name)
	}
	return fmt.Sprintf("unknown code protection mode %q; use seal or off", e.Name)
}

// ParseMode gives the mode of a name, or a *ModeError.
func ParseMode(name string) (Mode, error) {
	for m := range modes {
		if modes[m].name == name {
			return Mode(m), nil
		}
	}
	for _, l := range laterModes {
		if l == name {
			return Seal, &ModeError{Name: name, Known: true}
		}
	}
	return Seal, &ModeError{Name: name}
}
