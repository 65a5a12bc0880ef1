package engine

import (
	"errors"

	"github.com/wasmjit/wasmjit/decoder"
)

// DecodeFailure classifies an error of the decoder or of validation.
func DecodeFailure(err error) *Failure {
	var d *decoder.Error
	if !errors.As(err, &d) {
		return &Failure{Stage: Broken, Msg: err.Error(), Err: err}
	}
	f := &Failure{Stage: Invalid, Msg: d.Error(), Err: err}
	if d.IsUnsupported() {
		f.Stage, f.Feature = Unsupported, d.Feature
	}
	return f
}
