package decoder

import "fmt"

// featureText says of each proposal in ops.txt, and of those without opcodes,
// what is missing, as the start of a sentence.
var featureText = map[string]string{
	"component-model":     "the component model is",
	"custom-descriptors":  "custom descriptors are",
	"custom-page-sizes":   "custom page sizes are",
	"exceptions":          "exception handling is",
	"function-references": "typed function references are",
	"gc":                  "garbage collection (GC) is",
	"legacy-exceptions":   "legacy exception handling is",
	"memory-control":      "memory control is",
	"memory64":            "64-bit memories and tables are",
	"multi-memory":        "multiple memories are",
	"relaxed-simd":        "relaxed SIMD is",
	"simd":                "SIMD is",
	"stack-switching":     "stack switching is",
	"tail-call":           "tail calls are",
	"threads":             "threads (shared memories and atomics) are",
	"wide-arithmetic":     "wide arithmetic is",
}

// unsupported says that a proposal is not supported; what is the construct
// that needs it.
func unsupported(feature, what string) string {
	return fmt.Sprintf("%s not supported yet (%s)", featureText[feature], what)
}

// badOpcode describes an opcode that can't be compiled: the proposal it
// belongs to, or "" if there is none, and the words.
func badOpcode(op byte, sub uint32) (feature, msg string) {
	if !isPrefix(op) {
		if f := opFeature[op]; f != 0 {
			feature = opFeatures[f]
			return feature, unsupported(feature, fmt.Sprintf("opcode 0x%02x %s", op, opNames[op]))
		}
		return "", fmt.Sprintf("expected an opcode, found 0x%02x, which is none", op)
	}
	names, features := prefixTables(op)
	if int64(sub) < int64(len(names)) && features[sub] != 0 {
		feature = opFeatures[features[sub]]
		return feature, unsupported(feature, fmt.Sprintf("opcode 0x%02x 0x%02x %s", op, sub, names[sub]))
	}
	if f := opFeature[op]; f != 0 {
		feature = opFeatures[f]
		return feature, unsupported(feature, fmt.Sprintf("opcode 0x%02x 0x%02x", op, sub))
	}
	return "", fmt.Sprintf("expected an opcode, found 0x%02x 0x%02x, which is none", op, sub)
}

// typeFeature tells which proposal the byte of a value or heap type belongs
// to; "" if none. The types of 1.0 and 2.0 but v128 don't come here.
func typeFeature(b byte) string {
	switch b {
	case 0x7b:
		return "simd"
	case 0x63, 0x64: // ref null ht, ref ht
		return "function-references"
	case 0x69, 0x74: // exnref, nullexnref
		return "exceptions"
	case 0x68, 0x75: // contref, nullcontref
		return "stack-switching"
	case 0x6a, 0x6b, 0x6c, 0x6d, 0x6e, 0x71, 0x72, 0x73,
		0x77, 0x78, // i8, i16
		0x62: // exact ht
		return "gc"
	}
	return ""
}
