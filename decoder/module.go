package decoder

import (
	"bytes"
	"fmt"
	"io"
	"math/bits"
	"runtime"
	"slices"
	"unsafe"
)

// Read reads a whole module into a buffer that has the padding Decode wants,
// so that Decode doesn't copy it. sizeHint is the expected size in bytes, 0 if
// unknown; it need not be right. More than MaxModuleSize bytes are an error.
func Read(r io.Reader, sizeHint int64) ([]byte, error) {
	size := max(min(sizeHint, MaxModuleSize), 512)
	// One byte more than expected, so that a right hint ends with EOF and not
	// with a larger buffer.
	buf := make([]byte, 0, size+1+Padding)
	for {
		room := cap(buf) - Padding
		if len(buf) == room {
			bigger := make([]byte, len(buf), 2*cap(buf))
			copy(bigger, buf)
			buf = bigger
			continue
		}
		n, err := r.Read(buf[len(buf):room])
		buf = buf[:len(buf)+n]
		if len(buf) > MaxModuleSize {
			return nil, fmt.Errorf("module is larger than the limit of %d bytes", MaxModuleSize)
		}
		if err == io.EOF {
			return buf, nil
		}
		if err != nil {
			return nil, err
		}
	}
}

// Decode decodes a module. An error is always an *Error. The function bodies
// are not validated, unless an error lies behind them: then they are, so that
// the error at the lowest offset is reported.
//
// The module keeps buf, which must not change any more; it is copied if its
// capacity leaves no room for Padding.
func Decode(buf []byte) (*Module, error) {
	if len(buf) > MaxModuleSize {
		return nil, &Error{Offset: MaxModuleSize, Func: -1, Code: CodeTooLarge,
			Msg: fmt.Sprintf("module of %d bytes is over the limit of %d", len(buf), MaxModuleSize)}
	}
	if err := checkHeader(buf); err != nil {
		return nil, err
	}
	if cap(buf)-len(buf) < Padding {
		padded := make([]byte, len(buf), len(buf)+Padding)
		copy(padded, buf)
		buf = padded
	}
	m := &Module{Bytes: buf, names: new(names)}
	d := sectionDecoder{m: m}
	d.base = unsafe.Pointer(unsafe.SliceData(buf))
	d.pos, d.end, d.within = headerSize, len(buf), "file"
	d.sections()
	d.finishRefs()
	if d.err == nil {
		return m, nil
	}
	if n := len(m.Bodies); n > 0 && d.err.Offset >= int64(m.Bodies[n-1].End) {
		if err := ValidateBodies(m, runtime.GOMAXPROCS(0)); err != nil {
			return nil, err
		}
	}
	return nil, d.err
}

const headerSize = 8

// checkHeader checks magic and version, and tells what a file that isn't a
// module looks like.
func checkHeader(b []byte) error {
	fail := func(at int, code ErrorCode, msg string) error {
		return &Error{Offset: int64(at), Func: -1, Code: code, Msg: msg}
	}
	const magic = "\x00asm"
	if len(b) < 4 || string(b[:4]) != magic {
		return fail(0, CodeMagic, "not a WebAssembly module: "+describe(b))
	}
	switch v := b[4:min(len(b), headerSize)]; {
	case string(v) == "\x01\x00\x00\x00":
		return nil
	case len(v) < 4:
		return fail(len(b), CodeTruncated, "expected the version, found the end of the file")
	case v[2] == 1 && v[3] == 0:
		return &Error{Offset: 4, Func: -1, Code: CodeUnsupported, Feature: "component-model",
			Msg: "this is a WebAssembly component, not a core module; " + featureText["component-model"] + " not supported yet"}
	default:
		return fail(4, CodeVersion, fmt.Sprintf("expected version 1, found bytes % x", v))
	}
}

// describe guesses what a file without the magic bytes is.
func describe(b []byte) string {
	starts := func(s string) bool { return bytes.HasPrefix(b, []byte(s)) }
	text := bytes.TrimLeft(b[:min(len(b), 4096)], " \t\r\n\ufeff")
	switch {
	case len(b) == 0:
		return "the file is empty"
	case starts("\x1f\x8b"):
		return "the file is compressed with gzip; decompress it first"
	case bytes.Contains(b[:min(len(b), 64)], []byte("(brotli)")):
		return "the file is compressed with brotli; decompress it first"
	case starts("\x28\xb5\x2f\xfd"):
		return "the file is compressed with zstd; decompress it first"
	case starts("PK\x03\x04"):
		return "the file is a zip archive"
	case starts("\x7fELF"):
		return "the file is an ELF object"
	case bytes.HasPrefix(text, []byte("(module")), bytes.HasPrefix(text, []byte("(component")),
		bytes.HasPrefix(text, []byte(";;")), bytes.HasPrefix(text, []byte("(;")):
		return "the file is WebAssembly text; assemble it first"
	case len(text) > 0 && text[0] == '<':
		return "the file looks like HTML or XML"
	case isText(b[:min(len(b), 512)]):
		return "the file is text"
	}
	return fmt.Sprintf("expected bytes 00 61 73 6d at the start, found % x", b[:min(len(b), 4)])
}

func isText(b []byte) bool {
	for _, c := range b {
		if c < ' ' && c != '\n' && c != '\r' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// finishRefs lists the functions that ref.func may name. They are gathered
// as a bit set, which validation keeps using.
func (d *sectionDecoder) finishRefs() {
	n := 0
	for _, w := range d.m.refSet {
		n += bits.OnesCount64(w)
	}
	if n == 0 {
		return
	}
	d.m.RefFuncs = slices.Grow(d.m.RefFuncs, n)
	for i, w := range d.m.refSet {
		for ; w != 0; w &= w - 1 {
			d.m.RefFuncs = append(d.m.RefFuncs, uint32(i*64+bits.TrailingZeros64(w)))
		}
	}
}

// addRef marks function fn, an existing one, as one that ref.func may name.
func (m *Module) addRef(fn uint32) {
	if m.refSet == nil {
		m.refSet = make([]uint64, (len(m.Funcs)+63)/64)
	}
	m.refSet[fn/64] |= 1 << (fn % 64)
}

// isRef reports whether ref.func may name function fn, an existing one.
func (m *Module) isRef(fn uint32) bool {
	return m.refSet != nil && m.refSet[fn/64]>>(fn%64)&1 != 0
}
