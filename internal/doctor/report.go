package doctor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os/exec"
	"strings"
)

// State is the answer to a question.
type State string

// States.
const (
	Yes     State = "yes"
	No      State = "no"
	Partly  State = "partly"
	Unknown State = "unknown"
)

// Finding is the answer to one question.
type Finding struct {
	Group string `json:"group"`
	Name  string `json:"name"`
	State State  `json:"state"`
	// Value is the figure or setting that was found, Why the reason for a No,
	// or what follows from the answer.
	Value string `json:"value,omitempty"`
	Why   string `json:"why,omitempty"`
}

// Report is all that was found. Schema grows when a field changes its meaning.
type Report struct {
	Schema   int       `json:"schema"`
	Host     string    `json:"host"`
	Kernel   string    `json:"kernel"`
	Findings []Finding `json:"findings"`
}

// Command gives the command line of a child that runs Child with args.
type Command func(args ...string) *exec.Cmd

// Examine asks all questions.
func Examine(command Command) *Report {
	r := newReport()
	for _, p := range probes {
		if p.child {
			r.Findings = append(r.Findings, inChild(&p, command)...)
		} else {
			r.Findings = append(r.Findings, p.ask()...)
		}
	}
	for i := range r.Findings {
		f := &r.Findings[i]
		f.Value, f.Why = oneLine(f.Value), oneLine(f.Why)
	}
	return r
}

func oneLine(s string) string { return strings.Join(strings.Fields(s), " ") }

// probe is one or a few questions that are asked together.
type probe struct {
	name  string // of a child's probe
	child bool
	// group and what name the finding of a child that gave none.
	group, what string
	ask         func() []Finding
}

func inChild(p *probe, command Command) []Finding {
	c := command(p.name)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var all []Finding
	if e := json.Unmarshal(out.Bytes(), &all); e == nil {
		return all
	}
	why := "the probe gave no answer"
	if err != nil {
		why = "the probe ended with " + err.Error()
	}
	if line, _, _ := strings.Cut(errs.String(), "\n"); line != "" {
		why += ": " + line
	}
	return []Finding{{Group: p.group, Name: p.what, State: Unknown, Why: why}}
}

// Child runs one probe in a process that may be spoilt by it. It gives what
// to write to standard output.
func Child(name string) ([]byte, error) {
	for _, p := range probes {
		if p.child && p.name == name {
			return json.Marshal(p.ask())
		}
	}
	return nil, fmt.Errorf("doctor: no probe %q", name)
}
