package wast

import "strings"

// Command is one command of a script.
type Command struct {
	// Line is where it starts, from 1.
	Line int
	// Op is its keyword: module, "module definition", "module instance",
	// register, invoke, get, assert_return and so on.
	Op string
	// Name is the name a module or instance gets, without meaning if "".
	Name string
	// Of is the definition an instance is made from, or the instance that
	// register and actions mean; "" is the last one.
	Of string
	// Bytes is a module's binary; TextOnly marks one in text form instead.
	Bytes    []byte
	TextOnly bool
	// As is the name of register.
	As string
	// Field and Args belong to invoke and get.
	Field string
	Args  []Value
	// Inner is the module or action of an assertion.
	Inner *Command
	// Want are the results of assert_return.
	Want []Value
	// Text is the message an assertion expects.
	Text string
}

// IsAction reports whether c is invoke or get.
func (c *Command) IsAction() bool { return c.Op == "invoke" || c.Op == "get" }

// Parse reads a script.
func Parse(src []byte) ([]Command, error) {
	nodes, err := readNodes(string(src))
	if err != nil {
		return nil, err
	}
	cmds := make([]Command, 0, len(nodes))
	for i := range nodes {
		c, err := parseCommand(&nodes[i])
		if err != nil {
			return nil, err
		}
		cmds = append(cmds, *c)
	}
	return cmds, nil
}

func parseCommand(n *node) (*Command, error) {
	c := &Command{Line: n.line, Op: n.head()}
	if c.Op == "" {
		return nil, n.errorf("expected a command")
	}
	args := n.list[1:]
	switch {
	case c.Op == "module":
		return c, c.parseModule(args)
	case c.Op == "register":
		if len(args) == 0 || args[0].kind != stringNode {
			return nil, n.errorf("register takes a name")
		}
		c.As = args[0].text
		if len(args) > 1 {
			c.Of = args[1].text
		}
		return c, nil
	case c.IsAction():
		if len(args) > 0 && isName(&args[0]) {
			c.Of, args = args[0].text, args[1:]
		}
		if len(args) == 0 || args[0].kind != stringNode {
			return nil, n.errorf("%s takes the name of an export", c.Op)
		}
		c.Field = args[0].text
		return c, parseValues(&c.Args, args[1:])
	case strings.HasPrefix(c.Op, "assert_"):
		if len(args) == 0 || args[0].kind != listNode {
			return nil, n.errorf("%s takes a module or an action", c.Op)
		}
		var err error
		if c.Inner, err = parseCommand(&args[0]); err != nil {
			return nil, err
		}
		if c.Op == "assert_return" {
			return c, parseValues(&c.Want, args[1:])
		}
		if len(args) > 1 && args[1].kind == stringNode {
			c.Text = args[1].text
		}
		return c, nil
	}
	return nil, n.errorf("unknown command %q", c.Op)
}

func isName(n *node) bool { return n.kind == atomNode && strings.HasPrefix(n.text, "$") }

func parseValues(dst *[]Value, nodes []node) error {
	for i := range nodes {
		v, err := parseValue(&nodes[i])
		if err != nil {
			return err
		}
		*dst = append(*dst, v)
	}
	return nil
}

// parseModule reads the arguments of the three module commands. A module
// that is neither binary nor an instance is in text form.
func (c *Command) parseModule(args []node) error {
	isAtom := func(s string) bool {
		return len(args) > 0 && args[0].kind == atomNode && args[0].text == s
	}
	switch {
	case isAtom("instance"):
		c.Op, args = "module instance", args[1:]
		for i := range args {
			if !isName(&args[i]) {
				return args[i].errorf("module instance takes names")
			}
		}
		if len(args) > 0 {
			c.Name = args[0].text
		}
		if len(args) > 1 {
			c.Of = args[1].text
		}
		return nil
	case isAtom("definition"):
		c.Op, args = "module definition", args[1:]
	}
	if len(args) > 0 && isName(&args[0]) {
		c.Name, args = args[0].text, args[1:]
	}
	if !isAtom("binary") {
		c.TextOnly = true
		return nil
	}
	for _, a := range args[1:] {
		if a.kind != stringNode {
			return a.errorf("a binary module is made of strings")
		}
		c.Bytes = append(c.Bytes, a.text...)
	}
	return nil
}
