//go:build !linux

package codemem

import "errors"

// MakeImmutable is refused: this system has no such call.
func (a *Arena) MakeImmutable() error {
	return &SystemError{"mseal", int64(a.hi - a.lo), errors.ErrUnsupported}
}

// ForbidNewExec is refused: this system has no such call.
func ForbidNewExec() error {
	return &SystemError{"prctl(PR_SET_MDWE)", 0, errors.ErrUnsupported}
}
