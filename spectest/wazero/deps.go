//go:build deps

package wazero

// The import keeps the module that has the test data in go.mod; no build sets
// the tag.
import _ "github.com/tetratelabs/wazero"
