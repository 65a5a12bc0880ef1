package wast

import (
	"errors"
	"fmt"
	"strings"

	"github.com/wasmjit/wasmjit/internal/engine"
)

// Status is what became of a command.
type Status uint8

// Statuses of an Outcome.
const (
	Passed Status = iota
	Failed
	TextOnly // it tests the text format, which is not read here
)

// Outcome is the fate of one command.
type Outcome struct {
	Command *Command
	Status  Status
	// Reason says what was expected and what came, for a failure.
	Reason string
	// Feature is the unsupported proposal at the root of a failure, "" when
	// the engine named none.
	Feature string
}

// Runner runs scripts over an engine. A script's modules share a store, so
// each script needs a fresh engine and Runner.
type Runner struct {
	Engine engine.Engine
	// Known reports whether the suite's version of WebAssembly contains a
	// proposal; nil means all of them. A module that is rejected for needing
	// one that it does not contain counts as malformed or invalid.
	Known func(feature string) bool

	registered  map[string]engine.Exporter
	failed      map[string]*slot // what could not be registered
	definitions map[string]*slot
	instances   map[string]*slot
	lastDef     *slot
	lastInst    *slot
	modules     []engine.Module
}

// slot holds a module or an instance, or why there is none.
type slot struct {
	line     int
	module   engine.Module
	instance engine.Instance
	failure  error
}

// Run executes the commands in order and gives an outcome for each.
func (r *Runner) Run(cmds []Command) ([]Outcome, error) {
	r.registered = map[string]engine.Exporter{}
	r.failed = map[string]*slot{}
	r.definitions = map[string]*slot{}
	r.instances = map[string]*slot{}
	host, err := r.Engine.Host(Spectest())
	if err != nil {
		return nil, err
	}
	r.registered["spectest"] = host
	defer func() {
		for _, m := range r.modules {
			m.Close()
		}
	}()
	out := make([]Outcome, len(cmds))
	for i := range cmds {
		out[i] = r.run(&cmds[i])
	}
	return out, nil
}

func (r *Runner) run(c *Command) Outcome {
	o := Outcome{Command: c}
	if c.TextOnly || c.Inner != nil && c.Inner.TextOnly {
		o.Status = TextOnly
		if c.Op == "module" || c.Op == "module definition" {
			r.define(c, nil, errors.New("the module is in text form"))
		}
		return o
	}
	err := r.exec(c)
	if err != nil {
		o.Status = Failed
		o.Reason = err.Error()
		o.Feature = feature(err)
	}
	return o
}

// feature finds the proposal behind an error.
func feature(err error) string {
	var f *engine.Failure
	if errors.As(err, &f) {
		return f.Feature
	}
	return ""
}

func (r *Runner) exec(c *Command) error {
	switch c.Op {
	case "module definition":
		m, err := r.compile(c.Bytes)
		r.define(c, m, err)
		return err
	case "module instance", "module":
		inst, err := r.instantiate(c)
		s := &slot{line: c.Line, instance: inst, failure: err}
		r.lastInst = s
		if c.Name != "" {
			r.instances[c.Name] = s
		}
		return err
	case "register":
		inst, err := r.instance(c.Of)
		if err != nil {
			delete(r.registered, c.As)
			var dep *dependency
			if errors.As(err, &dep) {
				r.failed[c.As] = dep.slot
			}
			return err
		}
		r.registered[c.As] = inst
		return nil
	case "invoke", "get":
		_, err := r.action(c)
		return err
	case "assert_return":
		return r.assertReturn(c)
	case "assert_trap":
		return r.assertFailure(c, engine.Trapped)
	case "assert_exhaustion":
		return r.assertFailure(c, engine.Exhausted)
	case "assert_exception":
		return r.assertFailure(c, engine.Exception)
	case "assert_unlinkable":
		return r.assertFailure(c, engine.Unlinkable)
	case "assert_malformed", "assert_malformed_custom":
		return r.assertRejected(c, engine.Malformed)
	case "assert_invalid", "assert_invalid_custom":
		return r.assertRejected(c, engine.Invalid)
	}
	return fmt.Errorf("unknown command %q", c.Op)
}

func (r *Runner) define(c *Command, m engine.Module, err error) {
	s := &slot{line: c.Line, module: m, failure: err}
	r.lastDef = s
	if c.Name != "" {
		r.definitions[c.Name] = s
	}
	if c.Op == "module" {
		r.lastInst = s
		if c.Name != "" {
			r.instances[c.Name] = s
		}
	}
}

func (r *Runner) compile(bin []byte) (engine.Module, error) {
	m, err := r.Engine.Compile(bin)
	if err == nil {
		r.modules = append(r.modules, m)
	}
	return m, err
}

// instantiate makes the instance of module and "module instance".
func (r *Runner) instantiate(c *Command) (engine.Instance, error) {
	var m engine.Module
	if c.Op == "module instance" {
		s := r.lastDef
		if c.Of != "" {
			s = r.definitions[c.Of]
		}
		if s == nil {
			return nil, fmt.Errorf("there is no module %s", c.Of)
		}
		if s.failure != nil {
			return nil, &dependency{s}
		}
		m = s.module
	} else {
		var err error
		if m, err = r.compile(c.Bytes); err != nil {
			return nil, err
		}
	}
	var missing *slot
	inst, err := r.Engine.Instantiate(m, func(module, name string) engine.Extern {
		if e, ok := r.registered[module]; ok {
			return e.Export(name)
		}
		if s := r.failed[module]; s != nil {
			missing = s
		}
		return nil
	})
	if err != nil && missing != nil {
		return nil, &dependency{missing}
	}
	return inst, err
}

// dependency is the failure of a command whose module failed before.
type dependency struct{ slot *slot }

func (d *dependency) Error() string {
	return fmt.Sprintf("needs the module of line %d", d.slot.line)
}

func (d *dependency) Unwrap() error { return d.slot.failure }

func (r *Runner) instance(name string) (engine.Instance, error) {
	s := r.lastInst
	if name != "" {
		s = r.instances[name]
	}
	if s == nil {
		return nil, fmt.Errorf("there is no instance %s", name)
	}
	if s.failure != nil {
		return nil, &dependency{s}
	}
	return s.instance, nil
}

// action runs invoke or get and gives its results.
func (r *Runner) action(c *Command) ([]engine.Value, error) {
	inst, err := r.instance(c.Of)
	if err != nil {
		return nil, err
	}
	if c.Op == "get" {
		v, ok := inst.Global(c.Field)
		if !ok {
			return nil, fmt.Errorf("no exported global %q", c.Field)
		}
		return []engine.Value{v}, nil
	}
	f := inst.Func(c.Field)
	if f == nil {
		return nil, fmt.Errorf("no exported function %q", c.Field)
	}
	ft := f.Type()
	if len(ft.Params) != len(c.Args) {
		return nil, fmt.Errorf("%q takes %d arguments, not %d", c.Field, len(ft.Params), len(c.Args))
	}
	var words []uint64
	for i := range c.Args {
		w, err := r.argument(&c.Args[i], ft.Params[i])
		if err != nil {
			return nil, err
		}
		words = append(words, w...)
	}
	res, err := f.Call(words...)
	if err != nil {
		return nil, err
	}
	return splitWords(ft.Results, res)
}

// assertFailure runs an action or a module and wants it to fail at a stage.
func (r *Runner) assertFailure(c *Command, want engine.Stage) error {
	var err error
	if c.Inner.IsAction() {
		_, err = r.action(c.Inner)
	} else {
		_, err = r.instantiate(c.Inner)
	}
	if err == nil {
		return fmt.Errorf("expected %s %q, found success", want, c.Text)
	}
	var dep *dependency
	var f *engine.Failure
	if errors.As(err, &dep) || !errors.As(err, &f) {
		return err
	}
	if f.Stage != want {
		return fmt.Errorf("expected %s %q, found %w", want, c.Text, err)
	}
	// Link errors have no prescribed wording beyond the assertion's class.
	if want == engine.Trapped && !sameMessage(f.Msg, c.Text) {
		return fmt.Errorf("expected trap %q, found trap %q", c.Text, f.Msg)
	}
	return nil
}

// sameMessage lets either side say more than the other.
func sameMessage(got, want string) bool {
	return strings.HasPrefix(got, want) || strings.HasPrefix(want, got) && got != ""
}

func (r *Runner) assertRejected(c *Command, want engine.Stage) error {
	m, err := r.Engine.Compile(c.Inner.Bytes)
	if err == nil {
		m.Close()
		return fmt.Errorf("expected %s %q, found a valid module", want, c.Text)
	}
	var f *engine.Failure
	if !errors.As(err, &f) {
		return err
	}
	switch f.Stage {
	case engine.Malformed, engine.Invalid:
		return nil
	case engine.Unsupported:
		if r.Known != nil && !r.Known(f.Feature) {
			return nil
		}
	}
	return fmt.Errorf("expected %s %q, found %w", want, c.Text, err)
}
