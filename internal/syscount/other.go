//go:build !linux

package syscount

import (
	"errors"
	"fmt"
	"runtime"
)

var errSystem = fmt.Errorf("system calls can't be counted on %s: %w", runtime.GOOS, errors.ErrUnsupported)

func openPerf([]Call) (*Counter, error) { return nil, errSystem }
func hold([]Call) error                 { return errSystem }
func openSeccomp() (*Counter, error)    { return nil, errSystem }
