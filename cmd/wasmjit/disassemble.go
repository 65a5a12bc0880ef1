package main

import (
	"encoding/binary"
	"fmt"
	"io"
	"strconv"
	"strings"

	"golang.org/x/arch/arm64/arm64asm"
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
	code, entry := m.Code(fn), m.Address(fn)
	printf(w, "--- WebAssembly code ---\n")
	if name := d.FuncName(fn); name != "" {
		printf(w, "name: %s\n", oneLine(name))
	}
	body := d.Bodies[fn-d.NumImportedFuncs]
	printf(w, "index: %d\nkind: wasm function\ncompiler: Liftoff\n", fn)
	printf(w, "wasm: offset %#x, %d bytes\n\nInstructions (size = %d)\n", body.Start, body.End-body.Start, len(code))
	disassemble := disassembleAMD64
	if m.Options().Liftoff.Arch == liftoff.ARM64 {
		disassemble = disassembleARM64
	}
	for at := 0; at < len(code); {
		text, n := disassemble(code[at:], uint64(entry)+uint64(at))
		printf(w, "%#x %6x  %-24x  %s\n", uint64(entry)+uint64(at), at, code[at:at+n], text)
		at += n
	}
	printf(w, "--- End code ---\n")
	return nil
}

// disassembleAMD64 gives the text and the length of the first instruction of
// code.
func disassembleAMD64(code []byte, pc uint64) (string, int) {
	inst, err := x86asm.Decode(code, 64)
	if err != nil || inst.Len == 0 {
		return fmt.Sprintf(".byte %#02x", code[0]), 1
	}
	return x86asm.IntelSyntax(inst, pc, nil), inst.Len
}

// disassembleARM64 does the same for arm64. Trap instructions are those with
// no bits in the upper half.
func disassembleARM64(code []byte, pc uint64) (string, int) {
	word := binary.LittleEndian.Uint32(code)
	if word>>16 == 0 {
		return fmt.Sprintf("udf #%d", word), 4
	}
	inst, err := arm64asm.Decode(code)
	if err != nil {
		return fmt.Sprintf(".word %#08x", word), 4
	}
	text := strings.TrimSpace(arm64asm.GNUSyntax(inst))
	if i := strings.LastIndex(text, ".+0x"); i >= 0 {
		// The decoder prints distances, and its distances are 64 bits.
		if d, err := strconv.ParseUint(text[i+4:], 16, 64); err == nil {
			text = fmt.Sprintf("%s%#x", text[:i], pc+d)
		}
	}
	return text, 4
}
