package main

import (
	"bytes"
	"fmt"
	"math/bits"
	"strconv"
	"strings"

	"github.com/wasmjit/wasmjit/internal/optable"
)

// emitDecoder writes the decoder's tables: opcode constants, names, immediate
// kinds, packed signatures, natural alignments and the proposals of opcodes
// that are known but not supported.
func emitDecoder(b *bytes.Buffer, rows []optable.Row) {
	b.WriteString("package decoder\n\n")
	emitImmKinds(b)
	emitConstants(b, rows)

	features := []string{""}
	index := map[string]int{"": 0}
	for i := range rows {
		f := rows[i].Feature
		if _, ok := index[f]; !ok && (!rows[i].Supported() || rows[i].Class == "prefix") && f != "mvp" {
			index[f] = len(features)
			features = append(features, f)
		}
	}
	fmt.Fprintf(b, "// opFeatures are the proposals that the feature tables name by index.\n")
	fmt.Fprintf(b, "var opFeatures = [...]string{")
	for _, f := range features {
		fmt.Fprintf(b, "%q, ", f)
	}
	b.WriteString("}\n\n")

	for _, prefix := range []byte{0, 0xfb, 0xfc, 0xfd, 0xfe} {
		emitTable(b, "opNames", "are the opcodes' names", "string", prefix, rows, func(r *optable.Row) string {
			return strconv.Quote(display(r.Name))
		})
		emitTable(b, "opFeature", "tells the proposal of an opcode that is not supported", "uint8", prefix, rows, func(r *optable.Row) string {
			if r.Class == "prefix" || !r.Supported() {
				return strconv.Itoa(index[r.Feature])
			}
			return "0"
		})
	}
	for _, prefix := range []byte{0, 0xfc} {
		emitTable(b, "opImm", "are the immediate kinds", "uint8", prefix, rows, func(r *optable.Row) string {
			if !r.Supported() {
				return "immNone"
			}
			return immConst(r.Imm)
		})
		emitTable(b, "opSig", "are the packed signatures (opcode.go); 0 is not an opcode", "uint32", prefix, rows, packSig)
	}
	emitTable(b, "opAlign", "are the binary logarithms of natural alignments", "uint8", 0, rows, func(r *optable.Row) string {
		if r.Class != "load" && r.Class != "store" {
			return "0"
		}
		return strconv.Itoa(accessLog2(r.Args[1]))
	})
}

func emitImmKinds(b *bytes.Buffer) {
	b.WriteString("// Kinds of immediates, as ops.txt describes them.\nconst (\n")
	for i, k := range optable.ImmKinds {
		fmt.Fprintf(b, "\t%s", immConst(k))
		if i == 0 {
			b.WriteString(" = iota")
		}
		b.WriteByte('\n')
	}
	b.WriteString(")\n\n")
}

func immConst(kind string) string {
	if kind == "" {
		return "immNone"
	}
	return "imm" + optable.Camel(kind)
}

func emitConstants(b *bytes.Buffer, rows []optable.Row) {
	b.WriteString("// The opcodes. One behind a prefix is written prefix<<12 | sub-opcode.\nconst (\n")
	for i := range rows {
		r := &rows[i]
		if r.Prefix == 0 {
			fmt.Fprintf(b, "\tOp%s = %#02x\n", r.Ident, r.Code)
		} else {
			fmt.Fprintf(b, "\tOp%s = %#05x\n", r.Ident, uint32(r.Prefix)<<12|r.Code)
		}
	}
	b.WriteString(")\n\n")
}

// emitTable writes an array that is indexed by the opcode, or by the
// sub-opcode behind a prefix; zero entries are left out.
func emitTable(b *bytes.Buffer, name, what, elem string, prefix byte, rows []optable.Row, value func(*optable.Row) string) {
	size := 256
	if prefix != 0 {
		name = fmt.Sprintf("%s%X", name, prefix)
		what = fmt.Sprintf("%s behind prefix %#x", what, prefix)
		size = 0
		for i := range rows {
			if rows[i].Prefix == prefix {
				size = max(size, int(rows[i].Code)+1)
			}
		}
	}
	fmt.Fprintf(b, "// %s %s.\nvar %s = [%d]%s{\n", name, what, name, size, elem)
	for i := range rows {
		r := &rows[i]
		if r.Prefix != prefix {
			continue
		}
		if v := value(r); v != "0" && v != "immNone" {
			fmt.Fprintf(b, "\t%#02x: %s,\n", r.Code, v)
		}
	}
	b.WriteString("}\n\n")
}

// packSig packs a signature as opcode.go describes: the push in bits 0-2, the
// pops from the top of the stack in bits 3-5, 6-8 and 9-11, their number in
// bits 12-13, "the class decides" in bit 14, "is an opcode" in bit 15, and in
// bits 16-19 which of push and pops are addresses.
func packSig(r *optable.Row) string {
	if !r.Supported() {
		return "0"
	}
	v := uint32(1) << 15
	if r.Star {
		return fmt.Sprintf("%#x", v|1<<14)
	}
	letters := r.Push
	if letters == "" {
		letters = "?"
	}
	for i := len(r.Pops) - 1; i >= 0; i-- {
		letters += r.Pops[i : i+1]
	}
	for i := range len(letters) {
		t := strings.IndexByte(optable.SigLetters, letters[i])
		if letters[i] == 'a' {
			t = strings.IndexByte(optable.SigLetters, 'i')
			v |= 1 << (16 + i)
		}
		v |= uint32(t) << (3 * i)
	}
	v |= uint32(len(r.Pops)) << 12
	return fmt.Sprintf("%#x", v)
}

// accessLog2 is the binary logarithm of the bytes of an access such as M16U.
func accessLog2(m string) int {
	n, err := strconv.Atoi(strings.TrimRight(strings.TrimPrefix(m, "M"), "SU"))
	if err != nil {
		panic("genops: bad memory access " + m)
	}
	return bits.Len(uint(n)) - 4
}

// display is an opcode's name for people: select_t is the second encoding of
// select.
func display(name string) string { return strings.TrimSuffix(name, "_t") }
