package doctor

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/wasmjit/wasmjit/internal/testenv"
)

// asChild makes the test binary a child of Examine.
const asChild = "WASMJIT_TEST_DOCTOR"

func TestMain(m *testing.M) {
	if name := os.Getenv(asChild); name != "" {
		if name == "dies" {
			panic("as it was told")
		}
		out, err := Child(name)
		if err != nil {
			panic(err)
		}
		os.Stdout.Write(out)
		return
	}
	os.Exit(m.Run())
}

func command(args ...string) *exec.Cmd {
	c := testenv.Self()
	c.Env = append(os.Environ(), asChild+"="+strings.Join(args, " "))
	return c
}

// Every question has an answer in one line, and a no says why.
func TestExamine(t *testing.T) {
	r := Examine(command)
	if r.Schema != 1 || r.Host == "" || len(r.Findings) == 0 {
		t.Fatalf("%+v", r)
	}
	seen := make(map[string]bool)
	for _, f := range r.Findings {
		if f.Group == "" || f.Name == "" || seen[f.Group+f.Name] {
			t.Errorf("finding %+v has no name of its own", f)
		}
		seen[f.Group+f.Name] = true
		switch f.State {
		case Yes, Partly:
		case No, Unknown:
			if f.Why == "" && f.Value == "" && !mayBeBare[f.Name] {
				t.Errorf("%s, %s: %s without a reason", f.Group, f.Name, f.State)
			}
		default:
			t.Errorf("%s: state %q", f.Name, f.State)
		}
		if strings.ContainsAny(f.Value+f.Why, "\n\t") {
			t.Errorf("%s: more than a line: %q %q", f.Name, f.Value, f.Why)
		}
	}
}

// mayBeBare are questions whose no is the ordinary case.
var mayBeBare = map[string]bool{
	"PR_SET_MDWE on already": true, "seccomp filter on this process": true,
	"LSE atomics": true, "branch targets": true, "pointer authentication": true,
}

// A probe that ends its process is an answer, too.
func TestProbeThatDies(t *testing.T) {
	got := inChild(&probe{name: "dies", group: "g", what: "w"}, command)
	if len(got) != 1 || got[0].State != Unknown || !strings.Contains(got[0].Why, "exit status 2: panic: as it was told") {
		t.Errorf("%+v", got)
	}
	if _, err := Child("none"); err == nil {
		t.Error("a probe that isn't there answers")
	}
}
