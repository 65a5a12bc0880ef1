package decoder

import (
	"bytes"
	"runtime"
	"slices"
	"testing"
)

// FuzzDecode checks on any bytes that decoding and validating never panic,
// allocate in proportion to the input, and give the same error every time and
// for any number of workers.
func FuzzDecode(f *testing.F) {
	f.Add(everything())
	f.Add(module())
	f.Add([]byte("\x00asm\x0d\x00\x01\x00"))
	f.Add(oneFunc(types(I32), types(I32), cat(vec([]byte{3, 0x7e}), []byte{OpLocalGet, 0, OpEnd})))
	f.Add(oneFunc(nil, nil, []byte{0, OpBlock, 0x40, OpUnreachable, OpSelect, OpBrIf, 0, OpEnd, OpEnd}))
	f.Add(oneFunc(nil, types(I32), []byte{0, OpI32Const, 0, OpIf, 0x7f, OpI32Const, 1, OpElse, OpI32Const, 2, OpEnd, OpEnd}))
	f.Add(oneFunc(nil, nil, []byte{0, OpI32Const, 0, OpI32Const, 0, OpI32Const, 0, 0xfc, 0x0c, 0, 0, OpEnd}))
	f.Add(module(nameSection(section(1, vec(named(0, "a"))))))
	f.Fuzz(func(t *testing.T, b []byte) {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		first := decodeAll(b, 1)
		runtime.ReadMemStats(&after)
		// Besides, calls can push operands up to their limit.
		if n := after.TotalAlloc - before.TotalAlloc; n > allocBound(len(b))+8*16*MaxOperands {
			t.Errorf("%d bytes allocated for %d bytes of input", n, len(b))
		}
		if again := decodeTwice(t, b); again != first {
			t.Errorf("two results:\n%s\n%s", first, again)
		}
	})
}

// decodeAll renders the result of decoding and validating.
func decodeAll(b []byte, workers int) string {
	m, err := Decode(b)
	if err == nil {
		err = ValidateBodies(m, workers)
	}
	if err == nil {
		for i := range m.Funcs {
			m.FuncName(uint32(i))
		}
		return "valid"
	}
	return err.Error()
}

// decodeTwice checks that the number of workers and bytes behind the module
// don't matter.
func decodeTwice(t *testing.T, b []byte) string {
	t.Helper()
	first := decodeAll(slices.Clip(b), 1)
	second := decodeAll(append(bytes.Clone(b), bytes.Repeat([]byte{0x80}, 64)...)[:len(b)], 3)
	if first != second {
		t.Errorf("two results:\n%s\n%s\nfor % x", first, second, b)
	}
	return first
}

// TestMutations is a little of FuzzDecode for every test run: each byte of a
// few modules changed or removed, or the last one.
func TestMutations(t *testing.T) {
	for _, b := range [][]byte{everything(), oneFunc(types(I32), types(I32), cat(vec([]byte{3, 0x7e}), []byte{OpLocalGet, 0, OpIf, 0x7f, OpI32Const, 0x85, 1, OpElse, OpUnreachable, OpEnd, OpEnd}))} {
		if s := decodeTwice(t, b); s != "valid" {
			t.Fatal(s)
		}
		for i := range b {
			decodeTwice(t, b[:i])
			decodeTwice(t, slices.Concat(b[:i], b[i+1:]))
			for _, x := range []byte{0, 1, 0x7f, 0x80, 0xff, 0x0b} {
				c := bytes.Clone(b)
				c[i] = x
				decodeTwice(t, c)
			}
		}
	}
}
