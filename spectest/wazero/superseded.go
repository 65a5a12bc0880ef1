package wazero

import (
	"fmt"
	"strings"

	"github.com/wasmjit/wasmjit/internal/wast"
)

// superseded tells what WebAssembly 2.0 does at an assertion of the 1.0 suite
// that 2.0 turned round, in the words of the runner's complaint. Such an
// assertion passes when exactly this happens.
var superseded = map[string]string{
	// Multi-value.
	"func.json:493": "expected invalid \"invalid result arity\", found a valid module",
	"func.json:497": "expected invalid \"invalid result arity\", found a valid module",
	"type.json:53":  "expected invalid \"invalid result arity\", found a valid module",
	"type.json:57":  "expected invalid \"invalid result arity\", found a valid module",
	// Reference types: several tables.
	"imports.json:310": "expected invalid \"multiple tables\", found a valid module",
	"imports.json:314": "expected invalid \"multiple tables\", found a valid module",
	"imports.json:318": "expected invalid \"multiple tables\", found a valid module",
	// Reference types: in unreachable code, the labels of br_table need the
	// same arity only.
	"unreached-invalid.json:539": "expected invalid \"type mismatch\", found a valid module",
	// Bulk memory: segments in front of the one that does not fit stay
	// written.
	"linking.json:236": "expected trap \"uninitialized\", found success",
	"linking.json:248": "expected trap \"uninitialized\", found success",
	"linking.json:342": "result 0: expected i32.const 0x0, found i32 0x61",
	"linking.json:354": "result 0: expected i32.const 0x0, found i32 0x61",
}

// supersededReason gives what 2.0 does at an assertion of 1.0, "" where they
// agree. A segment that does not fit was a link error and became a trap.
func supersededReason(file string, c *wast.Command) string {
	if c.Op == "assert_unlinkable" {
		switch {
		case strings.HasPrefix(c.Text, "data segment does not fit"):
			return fmt.Sprintf("expected unlinkable %q, found trap: out of bounds memory access", c.Text)
		case strings.HasPrefix(c.Text, "elements segment does not fit"):
			return fmt.Sprintf("expected unlinkable %q, found trap: out of bounds table access", c.Text)
		}
	}
	return superseded[fmt.Sprintf("%s:%d", file, c.Line)]
}
