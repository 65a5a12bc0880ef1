package codemem

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// A system that forbids making written memory executable (PR_SET_MDWE, for
// good and for the whole process, hence a child) is a clear error, and the
// memory can still be given back.
func TestSealDenied(t *testing.T) {
	const child, prSetMDWE = "CODEMEM_TEST_DENIED", 65
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSealDenied$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.CombinedOutput()
		if strings.Contains(string(out), "kernel without MDWE") {
			t.Skip("kernel without MDWE")
		}
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if unix.Prctl(prSetMDWE, 1, 0, 0, 0) != nil {
		t.Skip("kernel without MDWE")
	}
	a := testArena(t, 4*hugePage)
	s := newSpace(t, a, SpaceOptions{Expect: 50_000})
	c, w := newChunk(t, s, 100)
	c.Alloc(100)
	w.Close()
	err := s.Seal()
	var refused *SystemError
	if !errors.As(err, &refused) || !errors.Is(err, unix.EACCES) {
		t.Fatalf("sealing: %v", err)
	}
	if want := "code memory: mprotect to r-x of 4 KiB: permission denied"; err.Error() != want {
		t.Errorf("got %q, want %q", err, want)
	}
	if err := s.Free(); err != nil || a.Available() != 4*hugePage {
		t.Errorf("free: %v, %d bytes available", err, a.Available())
	}
	if _, err := a.NewSpace(SpaceOptions{Mode: Off}); !errors.Is(err, unix.EACCES) {
		t.Errorf("mode off: %v", err)
	}
	if a.Available() != 4*hugePage {
		t.Errorf("%d bytes available after a space that could not be mapped", a.Available())
	}
}
