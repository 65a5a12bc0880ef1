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

// point is where a call is counted: the number of a tracepoint, 0 where this
// kernel doesn't have the call, and what to let through there.
type point struct {
	id     uint64
	filter string
}

// points are one for each call.
type points [NumCalls]point

// tracepoints finds where to count each call on its entry. The kernel waits,
// when the last event of a tracepoint ends, until nobody is in it any more: so
// all calls are counted at the one that every call passes, if it is there.
func tracepoints() (all points, err error) {
	given, err := parseTracepoints(os.Getenv(TracepointEnv))
	if err != nil {
		return all, err
	}
	all, err = readTracepoints(tracefs...)
	if errors.Is(err, os.ErrNotExist) && os.Geteuid() == 0 {
		if own, e := mountTracefs(); e == nil {
			all, err = own, nil
		}
	}
	if err != nil && len(given) > 0 {
		err = nil // what was given is what can be counted
	}
	for c, id := range given {
		all[c] = point{id: id}
	}
	return all, err
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
func readTracepoints(roots ...string) (all points, err error) {
	for _, root := range roots {
		events := filepath.Join(root, "events")
		if _, err = os.Stat(filepath.Join(events, "syscalls")); err == nil {
			return all, all.read(events)
		}
		if errors.Is(err, os.ErrPermission) {
			break
		}
	}
	return all, fmt.Errorf("the tracepoints of system calls can't be looked up: %w", err)
}

// read reads the numbers below a folder of events.
func (p *points) read(events string) error {
	every, err := readTracepoint(filepath.Join(events, "raw_syscalls", "sys_enter", "id"))
	if err != nil {
		return err
	}
	for _, c := range Calls() {
		id, err := readTracepoint(filepath.Join(events, "syscalls", "sys_enter_"+c.String(), "id"))
		if err != nil {
			return err
		}
		p[c] = point{id: id}
		if id != 0 && every != 0 {
			p[c] = point{every, fmt.Sprintf("id == %d", numbers[c])}
		}
	}
	return nil
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
func mountTracefs() (all points, err error) {
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
		all, err = readTracepoints(tracefs[0])
	}()
	<-done
	return all, err
}
