package main

import (
	"fmt"
	"os"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/nativemodule"
)

// lockedOptions are o for run --lockdown. In mode dual not even root can write
// published code through /proc/self/mem, so it comes first.
func lockedOptions(o nativemodule.Options, s streams) (nativemodule.Options, error) {
	switch o.Protection {
	case codemem.Auto:
		o.Protection = codemem.Dual
		if codemem.Check(codemem.Dual) != nil {
			o.Protection = codemem.Seal
		}
	case codemem.Seal, codemem.Dual:
	default:
		return o, usagef("--lockdown needs code that is final, so not --write-protect-code-memory=%s; use dual or seal", o.Protection)
	}
	o.Liftoff.SplitInstance = true
	for _, f := range []any{s.in, s.out, s.err} {
		if file, ok := f.(*os.File); ok && onProcfs(file) {
			return o, fmt.Errorf("--lockdown: %s lies on a procfs", file.Name())
		}
	}
	return o, nil
}
