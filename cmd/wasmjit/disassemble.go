package main

import (
	"fmt"
	"io"

	"golang.org/x/arch/x86/x86asm"

	"github.com/wasmjit/wasmjit/liftoff"
	"github.com/wasmjit/wasmjit/nativemodule"
)

// printCodeTo prints the function that --print-wasm-code-function-index
// names, in the layout of V8's --print-wasm-code.
func (f *engineFlags) printCodeTo(w io.Writer, m *nativemodule.Module) error {
	if f.printCode < 0 {
		return nil
	}
	d := m.Decoded()
	if f.printCode >= int64(len(d.Funcs)) {
		return usagef("--print-wasm-code-function-index=%d: the module has %d functions", f.printCode, len(d.Funcs))
	}
	fn := uint32(f.printCode)
	if fn < d.NumImportedFuncs {
		return usagef("--print-wasm-code-function-index=%d: the function is imported; the first defined one is %d", fn, d.NumImportedFuncs)
	}
	code, entry := m.Code(fn), m.Entry(fn)
	printf(w, "--- WebAssembly code ---\n")
	if name := d.FuncName(fn); name != "" {
		printf(w, "name: %s\n", oneLine(name))
	}
	body := d.Bodies[fn-d.NumImportedFuncs]
	printf(w, "index: %d\nkind: wasm function\ncompiler: Liftoff\n", fn)
	printf(w, "wasm: offset %#x, %d bytes\n\nInstructions (size = %d)\n", body.Start, body.End-body.Start, len(code))
	if m.Options().Liftoff.Arch != liftoff.AMD64 {
		printf(w, "%x\n", code)
		return nil
	}
	for at := 0; at < len(code); {
		text, n := disassemble(code[at:], uint64(entry)+uint64(at))
		printf(w, "%#x %6x  %-24x  %s\n", uint64(entry)+uint64(at), at, code[at:at+n], text)
		at += n
	}
	printf(w, "--- End code ---\n")
	return nil
}

// disassemble gives the text and the length of the first instruction of code.
func disassemble(code []byte, pc uint64) (string, int) {
	inst, err := x86asm.Decode(code, 64)
	if err != nil || inst.Len == 0 {
		return fmt.Sprintf(".byte %#02x", code[0]), 1
	}
	return x86asm.IntelSyntax(inst, pc, nil), inst.Len
}
