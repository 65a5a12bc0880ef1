package measure

import (
	"errors"
	"fmt"
	"os/exec"
	"strings"
)

// maxStderr is how much of a failed command's stderr an error shows.
const maxStderr = 300

// Output runs a command and gives its stdout; the error of one that fails
// says what it wrote to stderr.
func Output(cmd *exec.Cmd) ([]byte, error) {
	out, err := cmd.Output()
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		text := strings.TrimSpace(string(exit.Stderr))
		if len(text) > maxStderr {
			text = text[:maxStderr] + "…"
		}
		err = fmt.Errorf("%s: %w: %s", cmd, err, text)
	}
	return out, err
}
