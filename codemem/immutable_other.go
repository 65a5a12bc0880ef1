//go:build !linux

package codemem

import (
	"errors"
	"fmt"
)

// MakeImmutable is refused: this system has no such call.
func (a *Arena) MakeImmutable() error {
	return &SystemError{"mseal", int64(a.hi - a.lo), errors.ErrUnsupported}
}

// ForbidNewExec is refused: this system has no such call.
func ForbidNewExec() error {
	return fmt.Errorf("new executable memory can't be forbidden: %w", errors.ErrUnsupported)
}
