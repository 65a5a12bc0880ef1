package decoder

import "fmt"

// Error is why a module was rejected. There is one per module: the one at the
// lowest offset.
type Error struct {
	// Offset is where in the module, in bytes from its start.
	Offset int64
	// Func is the function index the offset lies in, or -1.
	Func int64
	// FuncName is the name of that function, "" if it has none.
	FuncName string
	Code     ErrorCode
	// Feature names the proposal (as in ops.txt) when the module needs one
	// that is known but not supported yet; else it is "".
	Feature string
	// Msg says what was expected and what was found.
	Msg string
}

// Error renders the error as one line.
func (e *Error) Error() string {
	if e.Func < 0 {
		return fmt.Sprintf("offset %#x: %s", e.Offset, e.Msg)
	}
	if e.FuncName == "" {
		return fmt.Sprintf("offset %#x: function %d: %s", e.Offset, e.Func, e.Msg)
	}
	return fmt.Sprintf("offset %#x: function %d (%s): %s", e.Offset, e.Func, printable(e.FuncName), e.Msg)
}

// IsUnsupported reports whether the module may well be valid, but needs a
// proposal that is not supported yet.
func (e *Error) IsUnsupported() bool { return e.Feature != "" }

// ErrorCode is the class of an error.
//
// ORDER: the codes up to lastMalformed are malformed modules in the sense of
// the specification's chapter 5; see Malformed.
type ErrorCode uint8

const (
	// CodeMagic: the file doesn't start with "\0asm".
	CodeMagic ErrorCode = iota + 1
	// CodeVersion: the version isn't 1.
	CodeVersion
	// CodeTruncated: a section, body or immediate passes the end of what
	// holds it, e.g. a section of 100 bytes in the last 50 of a file.
	CodeTruncated
	// CodeLEB: a LEB128 integer has too many bytes or bits, e.g. 80 80 80 80 10.
	CodeLEB
	// CodeUTF8: a name isn't UTF-8, e.g. 01 ff.
	CodeUTF8
	// CodeSection: an unknown section, or one out of order, given twice, or
	// with bytes left over.
	CodeSection
	// CodeCount: two counts disagree, e.g. three functions and two bodies.
	CodeCount
	// CodeEncoding: a byte that stands for nothing, e.g. value type 0x01.
	CodeEncoding
	// CodeOpcode: an opcode that no proposal has, e.g. 0xff.
	CodeOpcode
	// CodeNesting: blocks that don't match, e.g. an else without if, or a
	// body without its last end.
	CodeNesting
	// CodeIndex: an index that nothing has, e.g. call 7 of six functions.
	CodeIndex
	// CodeType: an operand, result or initialiser of the wrong type, e.g.
	// i32.add on f32.
	CodeType
	// CodeAlignment: an alignment above the natural one, e.g. i32.load align=8.
	CodeAlignment
	// CodeConst: an instruction that a constant expression can't have, e.g. call.
	CodeConst
	// CodeImmutable: a write to an immutable global.
	CodeImmutable
	// CodeLimits: limits whose minimum is above the maximum, or a memory over
	// 65,536 pages.
	CodeLimits
	// CodeDuplicate: an export name used twice.
	CodeDuplicate
	// CodeStart: a start function with parameters or results.
	CodeStart
	// CodeUndeclared: ref.func of a function that no export, global or element
	// segment names.
	CodeUndeclared
	// CodeTooLarge: more than this implementation takes, e.g. 50,001 locals.
	CodeTooLarge
	// CodeUnsupported: a feature of a proposal that isn't supported yet; see
	// Error.Feature.
	CodeUnsupported

	lastMalformed = CodeNesting
)

// Malformed reports whether an error of this code is about the encoding
// (specification, chapter 5) and not about validity (chapter 3).
func (c ErrorCode) Malformed() bool { return c <= lastMalformed }

// printable shortens a name from a module and quotes what a terminal or a
// one-line message can't take.
func printable(name string) string {
	const most = 200
	cut := len(name) > most
	if cut {
		name = name[:most]
	}
	q := fmt.Sprintf("%+q", name)
	for _, r := range name {
		if r < ' ' || r >= 0x7f && r < 0xa0 || r == '\u2028' || r == '\u2029' || r >= 0x202a && r <= 0x202e || r == 0xfffd {
			name = q[1 : len(q)-1]
			break
		}
	}
	if cut {
		name += "..."
	}
	return name
}
