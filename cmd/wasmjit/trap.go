package main

import (
	"io"
	"strconv"

	"github.com/wasmjit/wasmjit/runtime"
)

// maxFrames is how many frames of a backtrace are printed; a stack overflow
// has tens of thousands.
const maxFrames = 30

// backtrace prints the frames of a trap, innermost first.
func backtrace(w io.Writer, t *runtime.Trap) {
	for i, f := range t.Frames {
		if i == maxFrames {
			printf(w, "    ... and %d more\n", len(t.Frames)-i)
			return
		}
		name := f.FuncName
		if name == "" {
			name = "function " + strconv.FormatUint(uint64(f.FuncIndex), 10)
		} else {
			name = oneLine(name) + " (function " + strconv.FormatUint(uint64(f.FuncIndex), 10) + ")"
		}
		if f.ModuleName != "" {
			name = oneLine(f.ModuleName) + "!" + name
		}
		printf(w, "    %2d: offset %#x: %s\n", i, f.ModuleOffset, name)
	}
}
