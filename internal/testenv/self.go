package testenv

import (
	"os"
	"os/exec"
	"strings"
)

// Emulator is the command, with its arguments, that runs the test binaries
// where they aren't the host's own: children need it too.
const Emulator = "WASMJIT_TEST_EMULATOR"

// Emulated reports whether the tests run under an emulator. It is slow, and
// some of what it emulates isn't what a kernel does.
func Emulated() bool { return os.Getenv(Emulator) != "" }

// Self is the command that runs this test binary again.
func Self(args ...string) *exec.Cmd { return Command(os.Args[0], args...) }

// Command is the command that runs a program built for the target of the
// tests.
func Command(program string, args ...string) *exec.Cmd {
	line := append(strings.Fields(os.Getenv(Emulator)), program)
	line = append(line, args...)
	return exec.Command(line[0], line[1:]...)
}
