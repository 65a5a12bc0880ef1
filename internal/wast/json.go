package wast

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
)

// The JSON form that wast2json makes of a script: commands in a JSON file,
// modules in files beside it.
type jsonScript struct {
	Commands []jsonCommand `json:"commands"`
}

type jsonCommand struct {
	Type       string      `json:"type"`
	Line       int         `json:"line"`
	Name       string      `json:"name"`
	Filename   string      `json:"filename"`
	ModuleType string      `json:"module_type"`
	As         string      `json:"as"`
	Text       string      `json:"text"`
	Action     *jsonAction `json:"action"`
	Expected   []jsonValue `json:"expected"`
}

type jsonAction struct {
	Type   string      `json:"type"`
	Module string      `json:"module"`
	Field  string      `json:"field"`
	Args   []jsonValue `json:"args"`
}

type jsonValue struct {
	Type     string          `json:"type"`
	LaneType string          `json:"lane_type"`
	Value    json.RawMessage `json:"value"`
}

// ParseJSON reads a script in wast2json's form; read gives a module's bytes
// by file name.
func ParseJSON(src []byte, read func(name string) ([]byte, error)) ([]Command, error) {
	var s jsonScript
	if err := json.Unmarshal(src, &s); err != nil {
		return nil, err
	}
	cmds := make([]Command, 0, len(s.Commands))
	for i := range s.Commands {
		c, err := s.Commands[i].command(read)
		if err != nil {
			return nil, fmt.Errorf("line %d: %w", s.Commands[i].Line, err)
		}
		cmds = append(cmds, c)
	}
	return cmds, nil
}

func (j *jsonCommand) command(read func(string) ([]byte, error)) (Command, error) {
	c := Command{Line: j.Line, Op: j.Type, Text: j.Text}
	var err error
	module := func(c *Command) error {
		if j.ModuleType == "text" || strings.HasSuffix(j.Filename, ".wat") {
			c.TextOnly = true
			return nil
		}
		c.Bytes, err = read(j.Filename)
		return err
	}
	switch j.Type {
	case "module":
		c.Name = j.Name
		return c, module(&c)
	case "register":
		c.Of, c.As = j.Name, j.As
		return c, nil
	case "action":
		a, err := j.action()
		if err != nil {
			return c, err
		}
		return *a, nil
	case "assert_return", "assert_trap", "assert_exhaustion", "assert_exception":
		if c.Inner, err = j.action(); err != nil {
			return c, err
		}
		if j.Type == "assert_return" {
			c.Want, err = values(j.Expected)
		}
		return c, err
	case "assert_uninstantiable":
		c.Op = "assert_trap"
	}
	if !strings.HasPrefix(c.Op, "assert_") {
		return c, fmt.Errorf("unknown command %q", j.Type)
	}
	c.Inner = &Command{Line: j.Line, Op: "module"}
	return c, module(c.Inner)
}

func (j *jsonCommand) action() (*Command, error) {
	a := j.Action
	if a == nil {
		return nil, fmt.Errorf("%s without an action", j.Type)
	}
	args, err := values(a.Args)
	return &Command{Line: j.Line, Op: a.Type, Of: a.Module, Field: a.Field, Args: args}, err
}

func values(js []jsonValue) ([]Value, error) {
	var vs []Value
	for i := range js {
		v, err := js[i].value()
		if err != nil {
			return nil, err
		}
		vs = append(vs, v)
	}
	return vs, nil
}

func (j *jsonValue) value() (Value, error) {
	v := Value{Op: j.Type + ".const"}
	switch j.Type {
	case "i32", "f32", "i64", "f64":
		v.Width, _ = strconv.Atoi(j.Type[1:])
		var s string
		if err := json.Unmarshal(j.Value, &s); err != nil {
			return v, err
		}
		l, err := jsonLane(s, v.Width)
		v.Lanes = []Lane{l}
		return v, err
	case "v128":
		v.Width, _ = strconv.Atoi(j.LaneType[min(1, len(j.LaneType)):])
		var lanes []string
		if err := json.Unmarshal(j.Value, &lanes); err != nil {
			return v, err
		}
		for _, s := range lanes {
			l, err := jsonLane(s, v.Width)
			if err != nil {
				return v, err
			}
			v.Lanes = append(v.Lanes, l)
		}
		return v, nil
	case "funcref", "externref", "exnref":
		heap := strings.TrimSuffix(j.Type, "ref")
		var s string
		if len(j.Value) > 0 {
			if err := json.Unmarshal(j.Value, &s); err != nil {
				return v, err
			}
		}
		switch s {
		case "null":
			v.Op, v.Heap = "ref.null", heap
			return v, nil
		case "":
			v.Op = "ref." + heap
			return v, nil
		}
		v.Op, v.HasRef = "ref."+heap, true
		var err error
		v.Ref, err = strconv.ParseUint(s, 10, 64)
		return v, err
	}
	return v, fmt.Errorf("unknown value type %q", j.Type)
}

// jsonLane reads the bits of a number, written in decimal, or a NaN pattern.
func jsonLane(s string, width int) (Lane, error) {
	switch s {
	case "nan:canonical":
		return Lane{NaN: Canonical}, nil
	case "nan:arithmetic":
		return Lane{NaN: Arithmetic}, nil
	}
	bits, err := parseInt(s, width)
	return Lane{Bits: bits}, err
}
