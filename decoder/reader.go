package decoder

import (
	"fmt"
	"unicode/utf8"
	"unsafe"
)

// reader reads one section, or the section headers, in place. The first error
// sticks: it moves pos to the end, and what is read after it is zero, so that
// callers check err once per entry and loops end at once.
type reader struct {
	base unsafe.Pointer
	pos  int
	end  int
	// within names what ends at end, for messages.
	within string
	err    *Error
}

func (r *reader) fail(at int, code ErrorCode, format string, args ...any) {
	if r.err == nil {
		r.err = &Error{Offset: int64(at), Func: -1, Code: code, Msg: fmt.Sprintf(format, args...)}
	}
	r.pos = r.end
}

func (r *reader) failUnsupported(at int, feature, format string, args ...any) {
	r.fail(at, CodeUnsupported, "%s", unsupported(feature, fmt.Sprintf(format, args...)))
	if r.err.Code == CodeUnsupported && r.err.Feature == "" {
		r.err.Feature = feature
	}
}

func (r *reader) left() int { return r.end - r.pos }

func (r *reader) byte(what string) byte {
	if r.pos >= r.end {
		r.failEnd(r.pos, what)
		return 0
	}
	b := Byte(r.base, r.pos)
	r.pos++
	return b
}

func (r *reader) failEnd(at int, what string) {
	r.fail(at, CodeTruncated, "expected %s, found the end of the %s", what, r.within)
}

// took accepts the position behind an integer read at at, or reports why the
// integer is wrong.
func (r *reader) took(at, next, most int, what string) bool {
	if next <= r.end {
		r.pos = next
		return true
	}
	r.failLEB(at, most, what)
	return false
}

func (r *reader) failLEB(at, most int, what string) {
	switch lebFault(r.base, at, r.end, most) {
	case lebTruncated:
		r.failEnd(at, what)
	case lebTooLong:
		r.fail(at, CodeLEB, "expected %s, found an integer of more than %d bytes", what, most)
	default:
		r.fail(at, CodeLEB, "expected %s, found an integer that is too large", what)
	}
}

func (r *reader) u32(what string) uint32 {
	if r.err != nil {
		return 0
	}
	v, next := U32(r.base, r.pos)
	if !r.took(r.pos, next, 5, what) {
		return 0
	}
	return v
}

// length is u32 for names in two parts, which are joined only for a message.
func (r *reader) length(of, what string) int {
	if r.err != nil {
		return 0
	}
	v, next := U32(r.base, r.pos)
	if next > r.end {
		r.failLEB(r.pos, 5, of+what)
		return 0
	}
	r.pos = next
	return int(v)
}

// count reads the length of a vector whose entries take at least minSize
// bytes each, and refuses one that can't fit into what is left: so a slice of
// that length may be made at once.
func (r *reader) count(what string, most, minSize int) int {
	at := r.pos
	n := r.length("the number of ", what)
	if n > most {
		r.fail(at, CodeTooLarge, "%d %s are over the limit of %d", n, what, most)
		return 0
	}
	if n*minSize > r.left() {
		r.fail(at, CodeTruncated, "expected %d %s, found only %d bytes to the end of the %s", n, what, r.left(), r.within)
		return 0
	}
	return n
}

// span reads a length and steps over as many bytes.
func (r *reader) span(what string) (start, end int) {
	at := r.pos
	n := r.length("the length of ", what)
	if n > r.left() {
		r.fail(at, CodeTruncated, "expected %s of %d bytes, found only %d bytes to the end of the %s", what, n, r.left(), r.within)
		return r.pos, r.pos
	}
	start = r.pos
	r.pos += n
	return start, r.pos
}

// bytes gives the bytes of a range without copying them.
func (r *reader) bytes(start, end int) []byte {
	return unsafe.Slice((*byte)(unsafe.Add(r.base, start)), end-start)
}

// name reads a name. It isn't copied: the module keeps the bytes anyway.
func (r *reader) name(what string) string {
	start, end := r.span(what)
	b := r.bytes(start, end)
	if !utf8.Valid(b) {
		for i := 0; i < len(b); {
			c, n := utf8.DecodeRune(b[i:])
			if c == utf8.RuneError && n == 1 {
				r.fail(start+i, CodeUTF8, "expected %s in UTF-8, found byte 0x%02x", what, b[i])
				break
			}
			i += n
		}
		return ""
	}
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// valType reads a value type.
func (r *reader) valType(what string) Type {
	at := r.pos
	b := r.byte(what)
	t := valTypeOf(b)
	if t == Bot && r.err == nil {
		r.failType(at, b, what)
	}
	return t
}

// refType reads a reference type.
func (r *reader) refType(what string) Type {
	at := r.pos
	b := r.byte(what)
	t := valTypeOf(b)
	if !t.IsRef() && r.err == nil {
		if t != Bot {
			r.fail(at, CodeEncoding, "expected %s (funcref or externref), found %s", what, t)
			return Bot
		}
		r.failType(at, b, what)
	}
	return t
}

func (r *reader) failType(at int, b byte, what string) {
	if f := typeFeature(b); f != "" {
		r.failUnsupported(at, f, "type 0x%02x", b)
		return
	}
	r.fail(at, CodeEncoding, "expected %s, found 0x%02x", what, b)
}

// valTypeOf gives the value type that a byte stands for, or Bot.
func valTypeOf(b byte) Type {
	switch b {
	case 0x7f:
		return I32
	case 0x7e:
		return I64
	case 0x7d:
		return F32
	case 0x7c:
		return F64
	case 0x70:
		return FuncRef
	case 0x6f:
		return ExternRef
	}
	return Bot
}
