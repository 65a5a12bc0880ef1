package main

import (
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"

	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/spf13/cobra"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/internal/attack"
	"github.com/wasmjit/wasmjit/internal/doctor"
)

func newDoctor(s streams) *cobra.Command {
	var asJSON, prove bool
	c := &cobra.Command{
		Use:   "doctor",
		Short: "Tell what this machine can do, and why not",
		Long: `Tries what code memory, memories, counters and WASI need of the processor and
the kernel, and says what works and why the rest doesn't. What can't be undone
is tried in child processes.

With --prove it attacks code instead: child processes compile a small module in
each protection mode, run it, try to change its code in every way that a stray
write or a hijacked thread has, and run it again. The table has what the kernel
answered; CHANGED means that the attack worked. The columns "locked" are
processes that run --lockdown has locked.

A write scope that a mode of V8's holds open while others run is open to all
threads: that is what the three attacks of the kind store-thread show.`,
		Example: `  wasmjit doctor
  wasmjit doctor --json
  wasmjit doctor --prove`,
		Args: exactArgs(0, "no arguments"),
		RunE: func(*cobra.Command, []string) error {
			self, err := os.Executable()
			if err != nil {
				return err
			}
			if prove {
				return proveModes(s.out, self, asJSON)
			}
			r := doctor.Examine(childCommand(self, "probe"))
			if asJSON {
				return writeJSON(s.out, r)
			}
			printReport(s.out, r)
			return nil
		},
	}
	c.Flags().BoolVar(&asJSON, "json", false, "as JSON")
	c.Flags().BoolVar(&prove, "prove", false, "attack published code, mode by mode, and print what the kernel refused")
	c.AddCommand(&cobra.Command{
		Use: "probe NAME", Hidden: true, Args: exactArgs(1, "a probe"),
		Short: "One probe, in a process that it may spoil",
		RunE: func(_ *cobra.Command, args []string) error {
			out, err := doctor.Child(args[0])
			if err == nil {
				_, err = s.out.Write(out)
			}
			return err
		},
	}, &cobra.Command{
		Use: "attack ATTACK MODE open|locked", Hidden: true, Args: exactArgs(3, "an attack, a mode, and open or locked"),
		Short: "One attack, in a process that may not survive it",
		RunE: func(_ *cobra.Command, args []string) error {
			if code := attack.Child(args); code != 0 {
				return errChild
			}
			return nil
		},
	})
	return c
}

// errChild is the error of a child that has said what was wrong.
var errChild = usagef("the child could not do what it was started for")

// childCommand gives the command lines of doctor's hidden commands.
func childCommand(self, kind string) func(args ...string) *exec.Cmd {
	return func(args ...string) *exec.Cmd {
		return exec.Command(self, append([]string{"doctor", kind}, args...)...)
	}
}

func writeJSON(w io.Writer, v any) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(v)
}

func printReport(w io.Writer, r *doctor.Report) {
	host := r.Host
	if r.Kernel != "" {
		host += ", kernel " + r.Kernel
	}
	printf(w, "%s\n", host)
	t := newTable(w, "", "", "", "")
	t.ResetHeaders()
	t.SetColumnConfigs([]table.ColumnConfig{{Number: 4, WidthMax: 70, WidthMaxEnforcer: text.WrapSoft}})
	group := ""
	for _, f := range r.Findings {
		if f.Group != group {
			group = f.Group
			t.AppendSeparator()
			t.AppendRow(table.Row{group})
		}
		said := f.Value
		if said != "" && f.Why != "" {
			said += "; "
		}
		t.AppendRow(table.Row{"", f.Name, string(f.State), said + f.Why})
	}
	t.Render()
}

// proof is an outcome in the JSON of doctor --prove.
type proof struct {
	Attack  string `json:"attack"`
	What    string `json:"what"`
	Mode    string `json:"mode"`
	Locked  bool   `json:"locked"`
	Answer  string `json:"answer"`
	Changed bool   `json:"changed"`
	Detail  string `json:"detail"`
}

// proveModes attacks every mode, and the two that a locked process may have.
func proveModes(w io.Writer, self string, asJSON bool) error {
	if len(attack.All()) == 0 {
		return fmt.Errorf("code doesn't run on this system, so none can be attacked: %w", errUnsupported)
	}
	var setups []attack.Setup
	header := table.Row{"attack"}
	for _, name := range codemem.ModeNames() {
		mode, err := codemem.ParseMode(name)
		if err != nil {
			return err
		}
		setups = append(setups, attack.Setup{Mode: mode})
		header = append(header, name)
	}
	for _, m := range []codemem.Mode{codemem.Seal, codemem.Dual} {
		setups = append(setups, attack.Setup{Mode: m, Locked: true})
		header = append(header, m.String()+" locked")
	}
	t := newTable(w, header...)
	var all []proof
	for _, a := range attack.All() {
		row := table.Row{a.Name + ": " + a.What}
		for _, set := range setups {
			o, err := attack.Run(&a, set, childCommand(self, "attack"))
			if err != nil {
				return err
			}
			all = append(all, proof{a.Name, a.What, set.Mode.String(), set.Locked, o.Short(), o.Changed, o.String()})
			row = append(row, o.Short())
		}
		t.AppendRow(row)
	}
	if asJSON {
		return writeJSON(w, struct {
			Schema   int     `json:"schema"`
			Outcomes []proof `json:"outcomes"`
		}{1, all})
	}
	t.Render()
	for _, p := range all {
		if p.Answer == "-" && p.Attack == "store" {
			printf(w, "mode %s: %s\n", p.Mode, p.Detail)
		}
	}
	return nil
}
