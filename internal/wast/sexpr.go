// Package wast reads the specification's test scripts in binary form, whose
// modules are strings of bytes and need no text-format parser, and runs them
// over an engine.Engine.
package wast

import (
	"fmt"
	"unicode/utf8"
)

// kind says what a node is.
type kind uint8

const (
	atomNode kind = iota
	stringNode
	listNode
)

// node is one S-expression. An atom's and a string's contents are in text.
type node struct {
	kind kind
	line int
	text string
	list []node
}

// SyntaxError is a fault in a script, not in a module under test.
type SyntaxError struct {
	Line int
	Msg  string
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("line %d: %s", e.Line, e.Msg) }

func (n *node) errorf(format string, a ...any) error {
	return &SyntaxError{n.line, fmt.Sprintf(format, a...)}
}

// head gives the first atom of a list, "" otherwise.
func (n *node) head() string {
	if n.kind == listNode && len(n.list) > 0 && n.list[0].kind == atomNode {
		return n.list[0].text
	}
	return ""
}

// reader splits a script into nodes.
type reader struct {
	src  string
	pos  int
	line int
}

// readNodes reads all S-expressions of src. Nesting costs heap, not stack.
func readNodes(src string) ([]node, error) {
	r := reader{src: src, line: 1}
	var open []node // lists being read
	var top []node
	add := func(n node) {
		if len(open) > 0 {
			p := &open[len(open)-1]
			p.list = append(p.list, n)
		} else {
			top = append(top, n)
		}
	}
	for {
		if err := r.skipSpace(); err != nil {
			return nil, err
		}
		if r.pos == len(r.src) {
			if len(open) > 0 {
				return nil, open[len(open)-1].errorf("parenthesis is never closed")
			}
			return top, nil
		}
		switch c := r.src[r.pos]; c {
		case '(':
			open = append(open, node{kind: listNode, line: r.line})
			r.pos++
		case ')':
			if len(open) == 0 {
				return nil, &SyntaxError{r.line, "closing parenthesis without an opening one"}
			}
			n := open[len(open)-1]
			open = open[:len(open)-1]
			add(n)
			r.pos++
		case '"':
			line := r.line
			s, err := r.str()
			if err != nil {
				return nil, err
			}
			add(node{kind: stringNode, line: line, text: s})
		default:
			start := r.pos
			for r.pos < len(r.src) && !isDelimiter(r.src[r.pos]) {
				r.pos++
			}
			add(node{kind: atomNode, line: r.line, text: r.src[start:r.pos]})
		}
	}
}

func isDelimiter(c byte) bool {
	switch c {
	case ' ', '\t', '\n', '\r', '(', ')', '"', ';':
		return true
	}
	return false
}

// skipSpace skips white space, line comments and nested block comments.
func (r *reader) skipSpace() error {
	for r.pos < len(r.src) {
		rest := r.src[r.pos:]
		switch {
		case rest[0] == '\n':
			r.line++
			r.pos++
		case rest[0] == ' ' || rest[0] == '\t' || rest[0] == '\r':
			r.pos++
		case len(rest) > 1 && rest[:2] == ";;":
			for r.pos < len(r.src) && r.src[r.pos] != '\n' {
				r.pos++
			}
		case len(rest) > 1 && rest[:2] == "(;":
			if err := r.blockComment(); err != nil {
				return err
			}
		case rest[0] == ';':
			return &SyntaxError{r.line, "single semicolon"}
		default:
			return nil
		}
	}
	return nil
}

func (r *reader) blockComment() error {
	start, depth := r.line, 0
	for r.pos+1 < len(r.src) {
		switch r.src[r.pos : r.pos+2] {
		case "(;":
			depth++
			r.pos += 2
		case ";)":
			depth--
			r.pos += 2
			if depth == 0 {
				return nil
			}
		default:
			if r.src[r.pos] == '\n' {
				r.line++
			}
			r.pos++
		}
	}
	return &SyntaxError{start, "comment is never closed"}
}

// str reads a string literal with the escapes of the text format (spec 6.3.3).
func (r *reader) str() (string, error) {
	line := r.line
	r.pos++
	// A string without escapes stays a part of the source.
	for i := r.pos; i < len(r.src); i++ {
		if c := r.src[i]; c == '"' {
			s := r.src[r.pos:i]
			r.pos = i + 1
			return s, nil
		} else if c == '\\' || c == '\n' {
			break
		}
	}
	var b []byte
	for r.pos < len(r.src) {
		c := r.src[r.pos]
		r.pos++
		switch c {
		case '"':
			return string(b), nil
		case '\n':
			return "", &SyntaxError{line, "string is never closed"}
		case '\\':
			var err error
			if b, err = r.escape(b); err != nil {
				return "", err
			}
		default:
			b = append(b, c)
		}
	}
	return "", &SyntaxError{line, "string is never closed"}
}

var escapes = map[byte]byte{'n': '\n', 't': '\t', 'r': '\r', '"': '"', '\'': '\'', '\\': '\\'}

// escape appends what the escape behind a backslash stands for.
func (r *reader) escape(b []byte) ([]byte, error) {
	rest := r.src[r.pos:]
	if len(rest) == 0 {
		return nil, &SyntaxError{r.line, "backslash at the end"}
	}
	if c, ok := escapes[rest[0]]; ok {
		r.pos++
		return append(b, c), nil
	}
	if rest[0] == 'u' && len(rest) > 1 && rest[1] == '{' {
		v, i := rune(0), 2
		for ; i < len(rest) && i < 10 && hexDigit(rest[i]) >= 0; i++ {
			v = v<<4 | rune(hexDigit(rest[i]))
		}
		if i == 2 || i == len(rest) || rest[i] != '}' || !utf8.ValidRune(v) {
			return nil, &SyntaxError{r.line, "bad unicode escape"}
		}
		r.pos += i + 1
		return utf8.AppendRune(b, v), nil
	}
	if len(rest) > 1 && hexDigit(rest[0]) >= 0 && hexDigit(rest[1]) >= 0 {
		r.pos += 2
		return append(b, byte(hexDigit(rest[0])<<4|hexDigit(rest[1]))), nil
	}
	return nil, &SyntaxError{r.line, fmt.Sprintf("unknown escape \\%c", rest[0])}
}

func hexDigit(c byte) int {
	switch {
	case '0' <= c && c <= '9':
		return int(c - '0')
	case 'a' <= c && c <= 'f':
		return int(c-'a') + 10
	case 'A' <= c && c <= 'F':
		return int(c-'A') + 10
	}
	return -1
}
