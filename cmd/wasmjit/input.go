package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"syscall"

	"github.com/wasmjit/wasmjit/decoder"
)

// readModule reads a module file, or standard input for "-", in one go into
// one padded buffer.
func readModule(s streams, name string) ([]byte, error) {
	f := s.in
	if name != "-" {
		var err error
		if f, err = os.Open(name); err != nil {
			return nil, inFile(name, err)
		}
		defer func() { _ = f.Close() }()
	}
	return readFrom(f, name)
}

// sniffed is how much is read to see whether the rest is worth reading.
const sniffed = 64

// readFrom reads a module. Of a file that can't be one only the first bytes
// are read, so that a disk image or an endless device is no burden.
func readFrom(f *os.File, name string) ([]byte, error) {
	hint := int64(0)
	if st, err := f.Stat(); err == nil {
		if st.IsDir() {
			return nil, inFile(name, syscall.EISDIR)
		}
		if st.Mode().IsRegular() {
			hint = st.Size()
		}
	}
	head := make([]byte, sniffed)
	n, err := io.ReadFull(f, head)
	head = head[:n]
	switch {
	case errors.Is(err, io.EOF):
		return nil, inFile(name, errors.New("the file is empty"))
	case errors.Is(err, io.ErrUnexpectedEOF), err == nil && !bytes.HasPrefix(head, []byte("\x00asm")):
		return head, nil
	case err != nil:
		return nil, inFile(name, err)
	case hint > decoder.MaxModuleSize:
		return nil, inFile(name, fmt.Errorf("the file has %d bytes, over the limit of %d", hint, decoder.MaxModuleSize))
	}
	buf, err := decoder.Read(io.MultiReader(bytes.NewReader(head), f), hint)
	return buf, inFile(name, err)
}

// decode decodes a module. For files that are no modules at all it says what
// they seem to be.
func decode(buf []byte, name string) (*decoder.Module, error) {
	m, err := decoder.Decode(buf)
	var de *decoder.Error
	if errors.As(err, &de) && de.Code == decoder.CodeMagic {
		if what := looksLike(buf); what != "" {
			err = &hint{err, what}
		}
	}
	return m, inFile(name, err)
}

// hint adds what a file seems to be to an error.
type hint struct {
	error
	what string
}

func (h *hint) Error() string { return h.error.Error() + " (" + h.what + ")" }
func (h *hint) Unwrap() error { return h.error }

func looksLike(buf []byte) string {
	head := bytes.TrimSpace(buf[:min(len(buf), 64)])
	switch {
	case bytes.HasPrefix(head, []byte("(")), bytes.HasPrefix(head, []byte(";;")):
		return "this looks like the text format, which needs an assembler such as wat2wasm first"
	case bytes.HasPrefix(head, []byte{0x1f, 0x8b}):
		return "this looks like a gzip file"
	case bytes.HasPrefix(head, []byte("\x7fELF")):
		return "this looks like an ELF program"
	case bytes.HasPrefix(head, []byte("#!")):
		return "this looks like a script"
	}
	return ""
}
