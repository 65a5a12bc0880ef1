package wasi_test

import (
	"errors"
	"fmt"

	"github.com/wasmjit/wasmjit/wasi"
)

// A guest that called proc_exit ends with an *ExitError, which says with which code.
func ExampleExitError() {
	err := fmt.Errorf("guest.wasm: %w", &wasi.ExitError{Code: 3})
	var exit *wasi.ExitError
	if errors.As(err, &exit) {
		fmt.Println("exit code", exit.Code)
	}
	// Output: exit code 3
}
