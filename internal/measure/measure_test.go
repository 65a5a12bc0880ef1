package measure

import (
	"math"
	"os/exec"
	"strings"
	"testing"
)

func TestDescribe(t *testing.T) {
	m := Describe()
	m.Done()
	if m.Cores < 1 || m.Go == "" || len(m.Date) != len("2006-01-02") || m.LoadBefore == "" || m.LoadAfter == "" {
		t.Errorf("machine %+v", m)
	}
}

func TestOutput(t *testing.T) {
	out, err := Output(exec.Command("sh", "-c", "echo good"))
	if err != nil || string(out) != "good\n" {
		t.Errorf("output %q, %v", out, err)
	}
	if _, err = Output(exec.Command("sh", "-c", "echo bad >&2; exit 3")); err == nil || !strings.Contains(err.Error(), "exit status 3: bad") {
		t.Errorf("error %v", err)
	}
}

func TestNumber(t *testing.T) {
	for v, want := range map[float64]string{1.25: "1.2", math.Inf(1): "-"} {
		if got := Number("%.1f", v); got != want {
			t.Errorf("%v gives %q, want %q", v, got, want)
		}
	}
	if got := Number("%.1f", math.NaN()); got != "-" {
		t.Errorf("NaN gives %q", got)
	}
}
