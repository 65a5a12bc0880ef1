package wast

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/wasmjit/wasmjit/decoder"
)

// NaN says which NaNs a lane of an expected result matches.
type NaN uint8

const (
	// NoNaN matches the lane's bits exactly.
	NoNaN NaN = iota
	// Canonical matches the two canonical NaNs (spec 2.2.3).
	Canonical
	// Arithmetic matches every NaN whose quiet bit is set.
	Arithmetic
)

// Lane is one number of a value.
type Lane struct {
	Bits uint64
	NaN  NaN
}

// Value is an argument or an expected result.
type Value struct {
	// Op is i32.const, i64.const, f32.const, f64.const, v128.const, either,
	// or a reference form such as ref.null.
	Op string
	// Width is the bits of a lane; a scalar has one lane.
	Width int
	Lanes []Lane
	// Heap is the heap type of ref.null, "" when none is given.
	Heap string
	// Ref is the number of ref.extern and ref.host, if HasRef.
	Ref    uint64
	HasRef bool
	// Alts are the alternatives of either.
	Alts []Value
}

// Type gives the value's type, Bot for a form that has none in this decoder.
func (v *Value) Type() decoder.Type {
	switch v.Op {
	case "i32.const":
		return decoder.I32
	case "i64.const":
		return decoder.I64
	case "f32.const":
		return decoder.F32
	case "f64.const":
		return decoder.F64
	case "v128.const":
		return decoder.V128
	case "ref.func":
		return decoder.FuncRef
	case "ref.extern", "ref.host":
		return decoder.ExternRef
	case "ref.null":
		switch v.Heap {
		case "func":
			return decoder.FuncRef
		case "extern":
			return decoder.ExternRef
		}
	}
	return decoder.Bot
}

// Words gives a numeric value as one word, or two, low half first, for v128.
func (v *Value) Words() []uint64 {
	if v.Op != "v128.const" {
		if len(v.Lanes) == 0 {
			return []uint64{0}
		}
		return []uint64{v.Lanes[0].Bits}
	}
	w := make([]uint64, 2)
	for i, l := range v.Lanes {
		at := i * v.Width
		w[at/64] |= l.Bits << (at % 64)
	}
	return w
}

var shapes = map[string]struct {
	lanes, width int
	float        bool
}{
	"i8x16": {16, 8, false}, "i16x8": {8, 16, false}, "i32x4": {4, 32, false},
	"i64x2": {2, 64, false}, "f32x4": {4, 32, true}, "f64x2": {2, 64, true},
}

// parseValue reads an argument or expected result.
func parseValue(n *node) (Value, error) {
	v := Value{Op: n.head()}
	var args []node
	if v.Op != "" {
		args = n.list[1:]
	}
	var err error
	switch v.Op {
	case "i32.const", "f32.const":
		v.Width, v.Lanes, err = 32, make([]Lane, 1), nil
	case "i64.const", "f64.const":
		v.Width, v.Lanes, err = 64, make([]Lane, 1), nil
	case "v128.const":
		return v, v.parseVector(n, args)
	case "either":
		for i := range args {
			a, err := parseValue(&args[i])
			if err != nil {
				return v, err
			}
			v.Alts = append(v.Alts, a)
		}
		return v, nil
	case "ref.null":
		if len(args) > 0 {
			v.Heap = args[0].text
		}
		return v, nil
	case "ref.extern", "ref.host", "ref.func":
		if len(args) > 0 {
			v.HasRef = true
			v.Ref, err = parseInt(args[0].text, 64)
		}
		return v, err
	case "ref.i31", "ref.eq", "ref.struct", "ref.array", "ref.exn", "ref.any":
		return v, nil
	default:
		return v, n.errorf("unknown value %q", v.Op)
	}
	if len(args) != 1 || args[0].kind != atomNode {
		return v, n.errorf("%s takes one number", v.Op)
	}
	if v.Lanes[0], err = parseLane(args[0].text, v.Width, v.Op[0] == 'f'); err != nil {
		return v, n.errorf("%s: %v", v.Op, err)
	}
	return v, nil
}

func (v *Value) parseVector(n *node, args []node) error {
	if len(args) == 0 {
		return n.errorf("v128.const without a shape")
	}
	s, ok := shapes[args[0].text]
	if !ok || len(args) != s.lanes+1 {
		return n.errorf("bad v128.const %s with %d lanes", args[0].text, len(args)-1)
	}
	v.Width = s.width
	for _, a := range args[1:] {
		l, err := parseLane(a.text, s.width, s.float)
		if err != nil {
			return n.errorf("v128.const: %v", err)
		}
		v.Lanes = append(v.Lanes, l)
	}
	return nil
}

func parseLane(s string, width int, float bool) (l Lane, err error) {
	if float {
		return parseFloat(s, width)
	}
	l.Bits, err = parseInt(s, width)
	return l, err
}

// parseInt reads a signed or unsigned integer of width bits (spec 6.3.1).
func parseInt(s string, width int) (uint64, error) {
	t := strings.ReplaceAll(s, "_", "")
	neg := strings.HasPrefix(t, "-")
	t = strings.TrimPrefix(strings.TrimPrefix(t, "-"), "+")
	base := 10
	if h, ok := strings.CutPrefix(t, "0x"); ok {
		t, base = h, 16
	}
	u, err := strconv.ParseUint(t, base, width)
	if err != nil {
		return 0, fmt.Errorf("bad %d-bit integer %q", width, s)
	}
	if neg {
		if u > 1<<(width-1) {
			return 0, fmt.Errorf("integer %q is below the range of %d bits", s, width)
		}
		u = -u
	}
	if width < 64 {
		u &= 1<<width - 1
	}
	return u, nil
}

// parseFloat reads a float of width bits (spec 6.3.2) or a NaN pattern.
func parseFloat(s string, width int) (l Lane, err error) {
	t := strings.ReplaceAll(s, "_", "")
	neg := strings.HasPrefix(t, "-")
	t = strings.TrimPrefix(strings.TrimPrefix(t, "-"), "+")
	mantissa, expMask := 52, uint64(0x7ff)<<52
	if width == 32 {
		mantissa, expMask = 23, uint64(0xff)<<23
	}
	switch {
	case t == "nan:canonical":
		l = Lane{expMask | 1<<(mantissa-1), Canonical}
	case t == "nan:arithmetic":
		l = Lane{expMask | 1<<(mantissa-1), Arithmetic}
	case t == "nan":
		l.Bits = expMask | 1<<(mantissa-1)
	case t == "inf":
		l.Bits = expMask
	case strings.HasPrefix(t, "nan:0x"):
		p, err := strconv.ParseUint(t[6:], 16, 64)
		if err != nil || p == 0 || p >= 1<<mantissa {
			return l, fmt.Errorf("bad NaN payload %q", s)
		}
		l.Bits = expMask | p
	default:
		if strings.HasPrefix(t, "0x") && !strings.ContainsAny(t, "pP") {
			t += "p0" // Go wants the exponent that the text format leaves out
		}
		f, err := strconv.ParseFloat(t, width)
		if err != nil {
			return l, fmt.Errorf("bad %d-bit float %q", width, s)
		}
		if width == 32 {
			l.Bits = uint64(math.Float32bits(float32(f)))
		} else {
			l.Bits = math.Float64bits(f)
		}
	}
	if neg {
		l.Bits |= 1 << (width - 1)
	}
	return l, nil
}

func (v Value) String() string {
	switch {
	case v.Op == "either":
		var s []string
		for _, a := range v.Alts {
			s = append(s, a.String())
		}
		return "either " + strings.Join(s, " or ")
	case v.HasRef:
		return fmt.Sprintf("%s %d", v.Op, v.Ref)
	case len(v.Lanes) > 0:
		s := v.Op
		for _, l := range v.Lanes {
			switch l.NaN {
			case Canonical:
				s += " nan:canonical"
			case Arithmetic:
				s += " nan:arithmetic"
			default:
				s += fmt.Sprintf(" 0x%x", l.Bits)
			}
		}
		return s
	}
	return strings.TrimSpace(v.Op + " " + v.Heap)
}

// Matches reports whether lane l accepts the bits got of a float or integer
// of width bits.
func (l Lane) Matches(got uint64, width int) bool {
	mantissa, mask := 52, uint64(math.MaxUint64)
	if width < 64 {
		mask = 1<<width - 1
	}
	if width == 32 {
		mantissa = 23
	}
	got &= mask
	quiet := mask >> 1 &^ (1<<(mantissa-1) - 1) // exponent and quiet bit
	switch l.NaN {
	case Canonical:
		return got&(mask>>1) == quiet
	case Arithmetic:
		return got&quiet == quiet
	}
	return got == l.Bits&mask
}
