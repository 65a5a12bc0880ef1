package main

import (
	"bytes"
	"encoding/binary"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/internal/synth"
)

// spare is how much more memory a bad file may take than printing the
// version does.
const spare = 16 << 20

// bad runs the three commands that read modules on a bad file: one line, the
// right exit code, no panic, little memory.
func bad(t *testing.T, path string, code int, text string) {
	t.Helper()
	base := wasmjit(t, "version").rss
	for _, command := range []string{"compile", "validate", "run"} {
		r := wasmjit(t, command, path)
		r.want(t, code, "", text)
		r.line(t)
		if r.rss > base+spare {
			t.Errorf("%s took %d MB, the version command %d MB", command, r.rss>>20, base>>20)
		}
	}
}

func header(b ...byte) []byte { return append([]byte("\x00asm\x01\x00\x00\x00"), b...) }

func TestBadFiles(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct {
		name string
		data []byte
		code int
		text string
	}{
		{"empty.wasm", nil, exitError, "the file is empty"},
		{"text.txt", []byte("hello, world\n"), exitError, "text.txt: offset 0x0"},
		{"module.wat", []byte("(module (func))\n"), exitError, "text format"},
		{"zipped.wasm.gz", []byte("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03"), exitError, "gzip"},
		{"short.wasm", []byte("\x00as"), exitError, "offset 0x"},
		{"version2.wasm", []byte("\x00asm\x02\x00\x00\x00"), exitError, "offset 0x4"},
		{"component.wasm", []byte("\x00asm\x0d\x00\x01\x00"), exitUnsupported, "component"},
		{"longsection.wasm", header(10, 0xff, 0xff, 0xff, 0xff, 0x0f), exitError, "offset 0x"},
		{"manytypes.wasm", header(1, 5, 0xff, 0xff, 0xff, 0xff, 0x0f), exitError, "offset 0x"},
		{"manyfuncs.wasm", header(3, 5, 0xff, 0xff, 0xff, 0xff, 0x0f), exitError, "offset 0x"},
		{"overlong.wasm", header(1, 0x80, 0x80, 0x80, 0x80, 0x80, 0), exitError, "offset 0x"},
		{"newline\n.wasm", []byte("x"), exitError, `newline\n.wasm`},
		{"locals.wasm", header(1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, 10, 1, 8, 1, 0xff, 0xff, 0xff, 0xff, 0x0f, 0x7f, 0x0b),
			exitError, "function 0"},
		{"simd.wasm", header(1, 4, 1, 0x60, 0, 0, 3, 2, 1, 0, 10, 9, 1, 7, 0, 0x41, 0, 0xfd, 0x0f, 0x1a, 0x0b),
			exitUnsupported, "SIMD"},
		{"typemismatch.wasm", header(1, 5, 1, 0x60, 0, 1, 0x7f, 3, 2, 1, 0, 10, 6, 1, 4, 0, 0x42, 0, 0x0b),
			exitError, "function 0: end: expected i32"},
	} {
		t.Run(strings.ReplaceAll(c.name, "\n", "_"), func(t *testing.T) {
			path := filepath.Join(dir, c.name)
			if err := os.WriteFile(path, c.data, 0o600); err != nil {
				t.Fatal(err)
			}
			bad(t, path, c.code, c.text)
		})
	}
	t.Run("missing", func(t *testing.T) {
		bad(t, filepath.Join(dir, "missing.wasm"), exitError, "missing.wasm: no such file or directory")
	})
	t.Run("directory", func(t *testing.T) { bad(t, dir, exitError, "is a directory") })
	t.Run("unreadable", func(t *testing.T) {
		path := filepath.Join(dir, "unreadable.wasm")
		if err := os.WriteFile(path, header(), 0); err != nil {
			t.Fatal(err)
		}
		if f, err := os.Open(path); err == nil {
			_ = f.Close()
			t.Skip("this user may read everything")
		}
		bad(t, path, exitError, "permission denied")
	})
}

// TestHuge has inputs that must not be read to their end: a module beyond the
// size limit, and a device without end.
func TestHuge(t *testing.T) {
	bad(t, "/dev/zero", exitError, "/dev/zero: offset 0x0")
	path := writeFile(t, "huge.wasm", header())
	if err := os.Truncate(path, 5<<30); err != nil {
		t.Skip(err)
	}
	bad(t, path, exitError, "huge.wasm: the file has 5368709120 bytes, over the limit")
}

// TestTruncated cuts a valid module at many places. Some prefixes are valid
// modules by chance, when the cut lies between two sections.
func TestTruncated(t *testing.T) {
	whole := synth.Module(synth.Options{Functions: 12, Names: true, Seed: 5})
	r := lcg(1)
	for range 12 {
		n := 8 + r.below(len(whole)-9)
		checkDamaged(t, whole[:n])
	}
}

// TestBitFlips flips bits of a valid module.
func TestBitFlips(t *testing.T) {
	whole := synth.Module(synth.Options{Functions: 12, Names: true, Seed: 6})
	r := lcg(2)
	for range 12 {
		b := bytes.Clone(whole)
		for range 1 + r.below(3) {
			b[r.below(len(b))] ^= 1 << r.below(8)
		}
		checkDamaged(t, b)
	}
}

// TestRandomFiles tries noise, bare and behind a valid header.
func TestRandomFiles(t *testing.T) {
	r := lcg(3)
	for i := range 10 {
		b := make([]byte, 1+r.below(4000))
		for k := range b {
			b[k] = byte(r.below(256))
		}
		if i%2 == 1 {
			b = header(b...)
		}
		checkDamaged(t, b)
	}
}

// checkDamaged demands of compile and validate that they agree, and either
// accept the module or report one line with an offset.
func checkDamaged(t *testing.T, b []byte) {
	t.Helper()
	base := wasmjit(t, "version").rss
	v := wasmjitIn(t, b, "validate", "-")
	c := wasmjitIn(t, b, "compile", "-")
	if v.code != c.code || v.err != c.err {
		t.Errorf("validate: %d %q\ncompile:  %d %q", v.code, v.err, c.code, c.err)
	}
	switch c.code {
	case exitOK:
	case exitError, exitUnsupported:
		c.line(t)
		if !strings.Contains(c.err, "stdin: offset 0x") {
			t.Errorf("no offset in %q", c.err)
		}
	default:
		t.Errorf("exit code %d, stderr %q", c.code, c.err)
	}
	if c.rss > base+spare {
		t.Errorf("compile took %d MB, the version command %d MB", c.rss>>20, base>>20)
	}
	if t.Failed() {
		path := filepath.Join(os.TempDir(), "wasmjit-damaged.wasm")
		_ = os.WriteFile(path, b, 0o600)
		t.Fatalf("the module is kept as %s", path)
	}
}

// lcg is a generator with the same numbers everywhere.
type lcg uint64

func (r *lcg) below(n int) int {
	*r = *r*6364136223846793005 + 1442695040888963407
	var b [8]byte
	binary.BigEndian.PutUint64(b[:], uint64(*r))
	return int(binary.BigEndian.Uint32(b[:4])>>1) % n
}
