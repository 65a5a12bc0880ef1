package attack

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"

	"github.com/wasmjit/wasmjit/codemem"
)

// Attack is one way to change published code.
type Attack struct {
	// Name is a short name with dashes.
	Name string
	// What says what is attempted.
	What string
	// needs is why the attack makes no sense in a mode, "" if it does.
	needs func(m codemem.Mode) string
	// scoped attacks are made while another goroutine holds a write scope.
	scoped bool
	// during, if set, is tried once more code is in place, before it is
	// published; run then gives its result.
	during func(t *target) error
	// run attempts it. An error is a refusal; the child checks for itself
	// whether the code changed when there was none.
	run func(t *target) error
}

// Setup is what a child does before the attack.
type Setup struct {
	Mode codemem.Mode
	// Locked makes code and constant tables immutable and lets no memory
	// become executable any more, as wasmjit run --lockdown does.
	Locked bool
}

// Outcome is what came of an attack.
type Outcome struct {
	// Changed is set if the code, or what it attacked instead, was changed.
	Changed bool
	// How is the kernel's answer: a signal, an error, or what was done.
	How string
	// Skipped is why the attack could not be made at all, else "".
	Skipped string
}

// String gives one line.
func (o Outcome) String() string {
	switch {
	case o.Skipped != "":
		return "n/a: " + o.Skipped
	case o.Changed:
		return "CHANGED: " + o.How
	}
	return "refused: " + o.How
}

// Short is one word: the signal or the error's name for a refusal, CHANGED, or
// a dash.
func (o Outcome) Short() string {
	switch {
	case o.Skipped != "":
		return "-"
	case o.Changed:
		return "CHANGED"
	}
	for name, e := range map[string]syscall.Errno{
		"EPERM": syscall.EPERM, "EACCES": syscall.EACCES, "EFAULT": syscall.EFAULT, "EIO": syscall.EIO,
		"ENOMEM": syscall.ENOMEM, "EINVAL": syscall.EINVAL, "ENOENT": syscall.ENOENT,
	} {
		if strings.HasSuffix(o.How, e.Error()) {
			return name
		}
	}
	if strings.HasPrefix(o.How, "SIGSEGV") || strings.HasPrefix(o.How, "killed by") {
		return "SIGSEGV"
	}
	return "no effect"
}

// Lines of a child's output.
const (
	lineReady   = "ready"
	lineSkipped = "skipped: "
	lineRefused = "refused: "
	lineChanged = "changed: "
)

// Run makes the attack in a child. command gives the child's command line for
// the arguments that Child takes.
func Run(a *Attack, s Setup, command func(args ...string) *exec.Cmd) (Outcome, error) {
	if a.needs != nil {
		if why := a.needs(s.Mode); why != "" {
			return Outcome{Skipped: why}, nil
		}
	}
	if a.scoped && s.Locked {
		return Outcome{Skipped: "no scope is ever open in a locked process"}, nil
	}
	locked := "open"
	if s.Locked {
		locked = "locked"
	}
	c := command(a.Name, s.Mode.String(), locked)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	err := c.Run()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		return Outcome{}, err
	}
	end := ""
	if exit != nil {
		end = exit.Error()
	}
	return verdict(out.String(), errs.String(), end)
}

// verdict reads what a child left. One that was ready and then died of its
// store has been refused it.
func verdict(out, errs, end string) (Outcome, error) {
	ready := false
	for line := range strings.Lines(out) {
		line = strings.TrimSpace(line)
		if line == lineReady {
			ready = true
		}
		for _, p := range []string{lineSkipped, lineRefused, lineChanged} {
			if rest, ok := strings.CutPrefix(line, p); ok {
				switch p {
				case lineSkipped:
					return Outcome{Skipped: rest}, nil
				case lineRefused:
					return Outcome{How: rest}, nil
				}
				return Outcome{Changed: true, How: rest}, nil
			}
		}
	}
	if ready {
		if s := fatalSignal(errs); s != "" {
			return Outcome{How: s}, nil
		}
		// In a signal handler nothing handles the fault.
		if s, ok := strings.CutPrefix(end, "signal: "); ok {
			return Outcome{How: "killed by " + s}, nil
		}
	}
	return Outcome{}, fmt.Errorf("child gave no answer, %s: %s%s", end, out, errs)
}

// fatalSignal finds the signal in what Go prints of a fault.
func fatalSignal(errs string) string {
	_, rest, ok := strings.Cut(errs, "[signal ")
	if !ok {
		return ""
	}
	rest, _, _ = strings.Cut(rest, "]")
	name, _, _ := strings.Cut(rest, ":")
	// The codes of SIGSEGV in asm-generic/siginfo.h.
	for code, why := range map[string]string{
		"code=0x1": "no mapping", "code=0x2": "no right to write", "code=0x4": "protection key",
	} {
		if strings.Contains(rest, code+" ") {
			return name + " (" + why + ")"
		}
	}
	return name
}

// Find gives the attack of a name, nil if there is none.
func Find(name string) *Attack {
	for i := range attacks {
		if attacks[i].Name == name {
			return &attacks[i]
		}
	}
	return nil
}

// All lists the attacks.
func All() []Attack { return attacks }

// Child is the child's side of Run: args are the attack, the mode and "open"
// or "locked". It writes its answer to standard output and returns the exit
// code; a successful defence often ends it before that.
func Child(args []string) int {
	if len(args) != 3 {
		fmt.Fprintln(os.Stderr, "attack: child needs an attack, a mode, and open or locked")
		return 2
	}
	a := Find(args[0])
	mode, err := codemem.ParseMode(args[1])
	if a == nil || err != nil {
		fmt.Fprintf(os.Stderr, "attack: no attack %q on mode %q\n", args[0], args[1])
		return 2
	}
	out, err := attempt(a, Setup{mode, args[2] == "locked"})
	if err != nil {
		fmt.Fprintf(os.Stderr, "attack: %v\n", err)
		return 2
	}
	switch {
	case out.Skipped != "":
		fmt.Println(lineSkipped + out.Skipped)
	case out.Changed:
		fmt.Println(lineChanged + out.How)
	default:
		fmt.Println(lineRefused + out.How)
	}
	return 0
}
