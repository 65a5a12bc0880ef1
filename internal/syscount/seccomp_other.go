//go:build linux && !amd64

package syscount

import (
	"errors"
	"fmt"
	"runtime"
)

func openSeccomp() (*Counter, error) {
	return nil, fmt.Errorf("no seccomp counter on linux/%s: %w", runtime.GOARCH, errors.ErrUnsupported)
}
