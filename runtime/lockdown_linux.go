package runtime

import (
	"errors"
	"fmt"

	"golang.org/x/sys/unix"

	"github.com/wasmjit/wasmjit/codemem"
)

// LockProcess gives up, for good, what a process that runs a guest doesn't
// need once its modules are compiled:
//
//   - the code memory becomes immutable, where the kernel has mseal (6.10):
//     its rights, contents and place are final, and no further module can be
//     compiled. The code stays mapped until the process ends;
//   - no memory can become executable any more, nor be mapped writable and
//     executable (PR_SET_MDWE, Linux 6.3; without it this is an error);
//   - the process can be neither traced nor dumped by others of its user, and
//     its memory can't be opened through procfs without privileges
//     (PR_SET_DUMPABLE).
//
// Stores and instances work as before; see also Config.Locked.
func LockProcess() error {
	if err := nativeInit(); err != nil { // the stubs are code as well
		return err
	}
	arena, err := codemem.Default()
	if err != nil {
		return err
	}
	if err := arena.MakeImmutable(); err != nil && !errors.Is(err, unix.ENOSYS) {
		return err
	}
	if err := codemem.ForbidNewExec(); err != nil {
		return err
	}
	if err := unix.Prctl(unix.PR_SET_DUMPABLE, 0, 0, 0, 0); err != nil {
		return fmt.Errorf("prctl(PR_SET_DUMPABLE): %w", err)
	}
	return nil
}
