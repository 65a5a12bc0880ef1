package decoder

import "fmt"

//go:generate go run ../scripts/genops -root ..

// Layout of a packed signature: the pushed type in bits 0-2, the popped types
// from the top of the stack in bits 3-5, 6-8 and 9-11, and the fields below.
// Addresses have type i32 here; a 64-bit memory would look at sigAddress.
const (
	sigCountShift = 12      // number of pops, 2 bits
	sigClass      = 1 << 14 // the opcode has typing rules of its own
	sigValid      = 1 << 15 // the opcode exists and is supported
	sigAddress    = 1 << 16 // bit 16+i: push (i = 0) or pop i is an address
)

// OpName gives the text format's name of an opcode (one behind a prefix as
// prefix<<12 | sub-opcode), or its number if it has none.
func OpName(op uint32) string {
	prefix, sub := byte(op>>12), op
	if prefix != 0 {
		sub = op & 0xfff
	}
	if names, _ := prefixTables(prefix); int(sub) < len(names) && names[sub] != "" {
		return names[sub]
	}
	if prefix != 0 {
		return fmt.Sprintf("opcode %#02x %#02x", prefix, sub)
	}
	return fmt.Sprintf("opcode %#02x", op)
}

// prefixTables gives the names and features of the opcodes behind a prefix,
// or of the plain ones for prefix 0.
func prefixTables(prefix byte) (names []string, features []uint8) {
	switch prefix {
	case 0:
		return opNames[:], opFeature[:]
	case 0xfb:
		return opNamesFB[:], opFeatureFB[:]
	case 0xfc:
		return opNamesFC[:], opFeatureFC[:]
	case 0xfd:
		return opNamesFD[:], opFeatureFD[:]
	case 0xfe:
		return opNamesFE[:], opFeatureFE[:]
	}
	return nil, nil
}

// isPrefix reports whether a sub-opcode follows op.
func isPrefix(op byte) bool { return op-0xfb <= 0xfe-0xfb }
