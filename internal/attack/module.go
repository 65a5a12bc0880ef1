package attack

import "runtime"

// victim is a module of three functions without parameters, all of which
// return 7: one itself, one by a direct call of it, one by a call through a
// table.
var victim = []byte("\x00asm\x01\x00\x00\x00" +
	"\x01\x05\x01\x60\x00\x01\x7f" + // type 0: () -> i32
	"\x03\x04\x03\x00\x00\x00" + // functions 0 to 2
	"\x04\x04\x01\x70\x00\x01" + // a table of one funcref
	"\x07\x1b\x03\x05seven\x00\x00\x04call\x00\x01\x08indirect\x00\x02" +
	"\x09\x07\x01\x00\x41\x00\x0b\x01\x00" + // its entry is function 0
	"\x0a\x13\x03" +
	"\x04\x00\x41\x07\x0b" +
	"\x04\x00\x10\x00\x0b" +
	"\x07\x00\x41\x00\x11\x00\x00\x0b")

// The victim's functions.
const (
	fnSeven = 0
	seven   = 7
)

// payloads are machine code that returns 13, by architecture.
var payloads = map[string][]byte{
	"amd64": {0xb8, 13, 0, 0, 0, 0xc3},                        // mov eax, 13; ret
	"arm64": {0xa0, 0x01, 0x80, 0x52, 0xc0, 0x03, 0x5f, 0xd6}, // mov w0, #13; ret
}

var payload = payloads[runtime.GOARCH]

const thirteen = 13
