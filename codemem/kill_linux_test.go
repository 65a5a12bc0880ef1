package codemem

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"
)

// A process that writes its published code dies of it, in every mode but Off;
// inside a scope of one of V8's modes it doesn't: the window that they leave.
// Each attack runs in a child, with Go's own handler for faults and nothing
// in between.
func TestWriteAfterPublishKills(t *testing.T) {
	const child = "CODEMEM_TEST_KILL"
	if job := os.Getenv(child); job != "" {
		attack(t, job)
		return
	}
	for _, mode := range modesHere() {
		for _, where := range []string{"code", "slot", "scope"} {
			if where == "scope" && !mode.Patchable() {
				continue
			}
			t.Run(mode.String()+" "+where, func(t *testing.T) {
				t.Parallel()
				cmd := exec.Command(os.Args[0], "-test.run=^TestWriteAfterPublishKills$")
				cmd.Env = append(os.Environ(), child+"="+mode.String()+" "+where)
				out, err := cmd.CombinedOutput()
				if errors.Is(err, syscall.ENOEXEC) {
					t.Skip("programs of this architecture start no others here")
				}
				died := err != nil && strings.Contains(string(out), "unexpected fault address") && strings.Contains(string(out), "attacking")
				survived := err == nil && strings.Contains(string(out), "PASS")
				survives := mode == Off || where == "scope" && mode.Switching()
				if died == survives || survived != survives {
					t.Errorf("died %v, survived %v: %v\n%s", died, survived, err, out)
				}
			})
		}
	}
}

// attack publishes code and writes to it.
func attack(t *testing.T, job string) {
	name, where, _ := strings.Cut(job, " ")
	mode, err := ParseMode(name)
	if err != nil {
		t.Fatal(err)
	}
	s := patchedSpace(t, mode, 1)
	h := NewHolder()
	code := addCode(t, s, h, returns(1))[0]
	patch(t, s, h, 0, code)
	if err := s.Publish(); err != nil {
		t.Fatal(err)
	}
	target := code
	switch where {
	case "slot":
		target = s.Slot(0)
	case "scope":
		defer closeScope(t, open(t, s, h, SiteBatch))
	}
	_, _ = os.Stdout.WriteString("attacking\n")
	*(*byte)(pointer(target)) = trapByte
}
