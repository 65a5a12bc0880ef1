//go:build amd64 || arm64

package attack

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/internal/testenv"
)

// asChild makes the test binary a child of Run; its arguments are Child's.
const asChild = "WASMJIT_TEST_ATTACK"

func TestMain(m *testing.M) {
	if args := strings.Fields(os.Getenv(asChild)); len(args) > 0 {
		var err error
		switch args[0] {
		case "where":
			err = whereIs()
		case "inherited":
			err = inherited()
		default:
			os.Exit(Child(args))
		}
		if err != nil {
			panic(err)
		}
		return
	}
	os.Exit(m.Run())
}

func command(args ...string) *exec.Cmd {
	c := testenv.Self()
	c.Env = append(os.Environ(), asChild+"="+strings.Join(args, " "))
	return c
}

// What is expected of an attack: refused, changed, or that it makes no sense.
// A question mark is the kernel's decision: it may have been told to refuse.
const (
	refused = 'R'
	changed = 'C'
	none    = '-'
	either  = '?'
)

// expectations: attack x mode. The last two columns are locked processes.
//
// In the comparison modes code can be written by everyone while a scope is
// open: that is why V8 left them. Unlocked, whoever can issue system calls can
// change code in every mode but dual, whose code can still be replaced by
// other. A locked process refuses all of it, except that in mode seal root may
// write through /proc/self/mem, which no guest can reach.
var (
	columns      = []string{"off", "fine", "hoisted", "seal", "dual", "pku", "seal locked", "dual locked"}
	expectations = map[string]string{
		"store":         "CRRRRRRR",
		"store-thread":  "CCCRRR--",
		"store-newborn": "CCCRRR--",
		"store-signal":  "CCCRRR--",
		"old-view":      "----R--R",
		"memfd-write":   "----R--R",
		"memfd-map":     "----R--R",
		"file-write":    "----R--R",
		"file-map":      "----R--R",
		"slot":          "CRR-RR--",
		"record":        "CCCCCCRR",
		"table":         "CCCCCCRR",
		"memory-base":   "CCCCCCRR",
		"mprotect":      "CCCCRRRR",
		"mmap":          "CCCCCCRR",
		"munmap":        "CCCCCCRR",
		"discard":       "CCCCR?RR",
		"process-vm":    "CRRRR?RR",
		"proc-mem":      "????R??R",
		"new-code":      "CCCCCCRR",
	}
)

func TestAttacks(t *testing.T) {
	// Without the call a locked process is one with read-only constants.
	_, _, e := unix.Syscall(unix.SYS_MSEAL, 1, 1, 0)
	mseal := e != unix.ENOSYS
	if len(expectations) != len(attacks) {
		t.Errorf("%d attacks, %d rows of expectations", len(attacks), len(expectations))
	}
	for i := range attacks {
		a := &attacks[i]
		row := expectations[a.Name]
		if len(row) != len(columns) {
			t.Errorf("%s: %d expectations for %d columns", a.Name, len(row), len(columns))
			continue
		}
		t.Run(a.Name, func(t *testing.T) {
			t.Parallel()
			for c, name := range columns {
				modeName, locked := strings.CutSuffix(name, " locked")
				mode, err := codemem.ParseMode(modeName)
				if err != nil {
					t.Fatal(err)
				}
				if locked && !mseal {
					continue
				}
				o, err := Run(a, Setup{mode, locked}, command)
				if err != nil {
					t.Errorf("%s: %v", name, err)
					continue
				}
				judge(t, name, row[c], o)
			}
		})
	}
}

func judge(t *testing.T, column string, want byte, o Outcome) {
	t.Helper()
	t.Logf("%-12s %s", column, o)
	switch {
	case o.Skipped != "":
		// A mode or a mechanism that this machine lacks can't be tested.
		if want == refused || want == changed {
			t.Logf("%s: not tested", column)
		}
	case want == none:
		t.Errorf("%s: was to make no sense, got: %s", column, o)
	case want == changed && !o.Changed && (o.Short() == "EPERM" || o.Short() == "EACCES"):
		t.Logf("%s: this system refuses more than it has to", column)
	case want == refused && o.Changed, want == changed && !o.Changed:
		t.Errorf("%s: want %c, got: %s", column, want, o)
	}
}
