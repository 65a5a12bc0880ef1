package doctor

import (
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmjit/wasmjit/codemem"
)

// The answers about modes are those that codemem gives, and the settings are
// those of the files.
func TestAnswersAgree(t *testing.T) {
	r := Examine(command)
	find := func(group, name string) Finding {
		for _, f := range r.Findings {
			if f.Group == group && f.Name == name {
				return f
			}
		}
		t.Fatalf("no finding %s, %s", group, name)
		return Finding{}
	}
	for _, name := range codemem.ModeNames() {
		mode, err := codemem.ParseMode(name)
		if err != nil {
			t.Fatal(err)
		}
		if mode == codemem.PKU {
			continue // the question changes the process
		}
		if f := find(groupModes, name); (f.State == Yes) != (codemem.Check(mode) == nil) {
			t.Errorf("mode %s: %+v, but codemem says %v", name, f, codemem.Check(mode))
		}
	}
	mode, err := codemem.Resolve(codemem.Auto, false)
	if f := find(groupModes, "default for code compiled ahead"); err == nil && f.Value != mode.String() {
		t.Errorf("default: %+v, want %s", f, mode)
	}
	_, _, e := unix.Syscall(unix.SYS_MSEAL, 1, 1, 0) // an address that is no page's
	if f := find(groupCode, "mappings made final (mseal)"); (f.State == Yes) != (e == unix.EINVAL) {
		t.Errorf("mseal: %+v, the kernel says %v", f, e)
	}
}

func TestSelected(t *testing.T) {
	for in, want := range map[string]string{"always [madvise] never": "madvise", "2": "2", "": ""} {
		if got := selected(in); got != want {
			t.Errorf("%q: %q", in, got)
		}
	}
}
