//go:build !(linux && (amd64 || arm64))

package attack

import (
	"errors"

	"github.com/wasmjit/wasmjit/codemem"
)

// target is never made here.
type target struct{}

// attacks are written for linux/amd64.
var attacks []Attack

func attempt(*Attack, Setup) (Outcome, error) {
	return Outcome{}, errors.New("there are no attacks on this system")
}

// Works reports why code can't be compiled and run in mode m in this process.
func Works(codemem.Mode) error {
	return errors.New("compiled code doesn't run on this system")
}
