package syscount

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"

	"golang.org/x/sys/unix"
)

// TracepointEnv names the variable that gives the numbers of tracepoints to
// users who may not read tracefs: "futex=522,mprotect=731". They are the same
// until the machine boots another kernel. Tracepoints that it doesn't name are
// looked up.
const TracepointEnv = "WASMJIT_TRACEPOINTS"

// tracefs is where tracepoints are described.
var tracefs = []string{"/sys/kernel/tracing", "/sys/kernel/debug/tracing"}

// tracepoints finds the numbers of the tracepoints on entry to each call; 0
// for a call that this kernel doesn't have.
func tracepoints() (ids [NumCalls]uint64, err error) {
	given, err := parseTracepoints(os.Getenv(TracepointEnv))
	if err != nil {
		return ids, err
	}
	ids, err = readTracepoints(tracefs...)
	if errors.Is(err, os.ErrNotExist) && os.Geteuid() == 0 {
		if own, e := mountTracefs(); e == nil {
			ids, err = own, nil
		}
	}
	if err != nil && len(given) > 0 {
		err = nil // what was given is what can be counted
	}
	for c, id := range given {
		ids[c] = id
	}
	return ids, err
}

func parseTracepoints(s string) (map[Call]uint64, error) {
	ids := map[Call]uint64{}
	for entry := range strings.SplitSeq(s, ",") {
		if entry == "" {
			continue
		}
		name, number, _ := strings.Cut(entry, "=")
		id, err := strconv.ParseUint(number, 10, 32)
		known := false
		for _, c := range Calls() {
			if c.String() == name {
				ids[c], known = id, true
			}
		}
		if !known || err != nil || id == 0 {
			return nil, fmt.Errorf("%s: %q is not CALL=NUMBER", TracepointEnv, entry)
		}
	}
	return ids, nil
}

// readTracepoints reads the numbers below the first of the roots that has them.
func readTracepoints(roots ...string) (ids [NumCalls]uint64, err error) {
	for _, root := range roots {
		events := filepath.Join(root, "events", "syscalls")
		if _, err = os.Stat(events); err == nil {
			for _, c := range Calls() {
				if ids[c], err = readTracepoint(filepath.Join(events, "sys_enter_"+c.String(), "id")); err != nil {
					return ids, err
				}
			}
			return ids, nil
		}
		if errors.Is(err, os.ErrPermission) {
			break
		}
	}
	return ids, fmt.Errorf("the tracepoints of system calls can't be looked up: %w", err)
}

// readTracepoint reads one number; a missing file is a missing call.
func readTracepoint(path string) (uint64, error) {
	b, err := os.ReadFile(path)
	if errors.Is(err, os.ErrNotExist) {
		return 0, nil
	}
	if err != nil {
		return 0, err
	}
	return strconv.ParseUint(strings.TrimSpace(string(b)), 10, 32)
}

// mountTracefs looks the numbers up where tracefs isn't mounted, in a mount
// namespace of a thread that ends with it, so that nobody else sees a change.
func mountTracefs() (ids [NumCalls]uint64, err error) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		runtime.LockOSThread() // and never unlocked: the thread ends here
		if err = unix.Unshare(unix.CLONE_NEWNS); err != nil {
			return
		}
		if err = unix.Mount("", "/", "", unix.MS_REC|unix.MS_PRIVATE, ""); err != nil {
			return
		}
		if err = unix.Mount("tracefs", tracefs[0], "tracefs", 0, ""); err != nil {
			return
		}
		ids, err = readTracepoints(tracefs[0])
	}()
	<-done
	return ids, err
}
