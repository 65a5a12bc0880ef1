package codemem

import (
	"errors"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"
)

// A process that forbids making written memory executable (PR_SET_MDWE, for
// good and for the whole process, hence a child) gets a clear error for every
// mode that needs it, and Dual where it leaves the choice.
func TestSealDenied(t *testing.T) {
	const child, prSetMDWE = "CODEMEM_TEST_DENIED", 65
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestSealDenied$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		out, err := cmd.CombinedOutput()
		if errors.Is(err, unix.ENOEXEC) {
			t.Skip("programs of this architecture start no others here")
		}
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
	for mode, want := range map[Mode]string{
		Seal:    "code protection mode seal is not available: memory that was written may not become executable in this process (PR_SET_MDWE)",
		Off:     "code protection mode off is not available: memory may not be writable and executable in this process (PR_SET_MDWE)",
		Hoisted: "code protection mode hoisted is not available: memory may not be writable and executable in this process (PR_SET_MDWE)",
	} {
		_, err := a.NewSpace(SpaceOptions{Mode: mode, Patched: !mode.Linkable()})
		var refused *ModeError
		if !errors.As(err, &refused) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if a.Available() != 4*hugePage {
		t.Errorf("%d bytes available after spaces that could not be had", a.Available())
	}
	s := newSpace(t, a, SpaceOptions{Expect: 50_000})
	c, w := newChunk(t, s, 100)
	addr, _ := c.Alloc(100)
	w.Write(addr, []byte{0xc3})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if err := s.Seal(); err != nil || s.Mode() != Dual || s.Counters().Mprotects() != 0 {
		t.Errorf("sealing in mode %v: %v, %+v", s.Mode(), err, s.Counters())
	}
	if !faults(func() { *(*byte)(pointer(addr)) = 1 }) || *(*byte)(pointer(addr)) != 0xc3 {
		t.Error("published code was written")
	}
	// A page of the arena that is written first is what the system refuses.
	lo, _ := a.Bounds()
	at := lo + 3*hugePage
	if err := remap(&process, at, pageSize, protRW); err != nil {
		t.Fatal(err)
	}
	err := protect(&process, at, pageSize, protRX)
	if want := "code memory: mprotect to r-x of 4 KiB: permission denied"; err == nil || err.Error() != want || !errors.Is(err, unix.EACCES) {
		t.Errorf("got %v, want %s", err, want)
	}
}

// Where executable memfds are forbidden (vm.memfd_noexec, a setting of each pid
// namespace, hence a child in one of its own), mode Dual says so when it is
// asked for, and code that is patched later falls back to V8's scopes.
func TestMemfdForbidden(t *testing.T) {
	const child = "CODEMEM_TEST_NOMEMFD"
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run=^TestMemfdForbidden$", "-test.v")
		cmd.Env = append(os.Environ(), child+"=1")
		cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID}
		out, err := cmd.CombinedOutput()
		if errors.Is(err, unix.EPERM) || errors.Is(err, unix.ENOEXEC) || strings.Contains(string(out), "SKIP") {
			t.Skip("no pid namespace, or no vm.memfd_noexec in it")
		}
		if err != nil {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	if err := os.WriteFile("/proc/sys/vm/memfd_noexec", []byte("2"), 0); err != nil {
		t.Skip(err)
	}
	want := "code protection mode dual is not available: executable memfds are forbidden (vm.memfd_noexec) (permission denied)"
	if err := Check(Dual); err == nil || err.Error() != want || !errors.Is(err, unix.EACCES) {
		t.Errorf("got %v, want %s", err, want)
	}
	s := patchedSpace(t, Auto, 1)
	if s.Mode() != Hoisted {
		t.Errorf("code that is patched got mode %v", s.Mode())
	}
	if m, err := Resolve(Auto, false); m != Seal || err != nil {
		t.Errorf("code that stays got mode %v, %v", m, err)
	}
}
