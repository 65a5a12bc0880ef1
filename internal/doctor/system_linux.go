package doctor

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wasmjit/wasmjit/internal/syscount"
)

func securityModules() []Finding {
	lsm := Finding{Group: groupSecurity, Name: "modules", State: Unknown, Value: setting("/sys/kernel/security/lsm"), Why: "securityfs can't be read"}
	if lsm.Value != "" {
		lsm.State, lsm.Why = Yes, ""
	}
	selinux := Finding{Group: groupSecurity, Name: "SELinux", State: No, Value: "not active"}
	switch setting("/sys/fs/selinux/enforce") {
	case "1":
		selinux = Finding{Group: groupSecurity, Name: "SELinux", State: Yes, Value: "enforcing, context " + setting("/proc/self/attr/current"),
			Why: "executable memory that was written needs execmem"}
	case "0":
		selinux.State, selinux.Value = Partly, "permissive"
	}
	seccomp := Finding{Group: groupSecurity, Name: "seccomp filter on this process", State: No}
	if n := field("/proc/self/status", "Seccomp"); n != "0" && n != "" {
		seccomp.State = Yes
		seccomp.Value = field("/proc/self/status", "Seccomp_filters") + " filters"
		seccomp.Why = "it may refuse any of the calls above"
	}
	procMem := Finding{Group: groupSecurity, Name: "/proc/self/mem writes past page rights", State: Yes,
		Why: "so no guest may reach a procfs; wasmjit refuses every path on one"}
	for word := range strings.FieldsSeq(setting("/proc/cmdline")) {
		if v, ok := strings.CutPrefix(word, "proc_mem.force_override="); ok && v != "always" {
			procMem.State, procMem.Value, procMem.Why = No, v, ""
		}
	}
	return []Finding{lsm, selinux, seccomp, procMem}
}

const thp = "/sys/kernel/mm/transparent_hugepage/"

func hugeSettings() []Finding {
	enabled := Finding{Group: groupHuge, Name: "transparent huge pages", State: Yes, Value: selected(setting(thp + "enabled"))}
	switch enabled.Value {
	case "":
		enabled.State, enabled.Why = No, "the kernel has none"
	case "never":
		enabled.State, enabled.Why = No, "first touch of code takes several times as long"
	}
	shmem := Finding{Group: groupHuge, Name: "for memfds (mode dual)", State: Yes, Value: selected(setting(thp + "shmem_enabled"))}
	if shmem.Value == "never" || shmem.Value == "" {
		shmem.State, shmem.Why = No, "first touch of code is slower in mode dual"
	}
	return []Finding{enabled, shmem}
}

const hugePage = 2 << 20

// hugePages touches aligned memory and looks what it got.
func hugePages() []Finding {
	f := Finding{Group: groupHuge, Name: "2 MiB pages on request (MADV_HUGEPAGE)", State: Yes}
	b, err := unix.Mmap(-1, 0, 3*hugePage, unix.PROT_READ|unix.PROT_WRITE, anonymous)
	if err == nil {
		skip := -uintptr(unsafe.Pointer(&b[0])) & (hugePage - 1)
		b = b[skip : skip+hugePage]
		err = unix.Madvise(b, unix.MADV_HUGEPAGE)
	}
	if err != nil {
		f.State, f.Why = No, err.Error()
		return []Finding{f}
	}
	b[0] = 1
	// One touch makes the whole of it resident.
	present := make([]byte, hugePage/pageSize)
	if _, _, e := unix.Syscall(unix.SYS_MINCORE, uintptr(unsafe.Pointer(&b[0])), hugePage, uintptr(unsafe.Pointer(&present[0]))); e != 0 {
		f.State, f.Why = Unknown, e.Error()
	} else if present[len(present)-1]&1 == 0 {
		f.State, f.Why = No, "the request was accepted, and small pages came"
	}
	return []Finding{f}
}

func addressSpace() []Finding {
	limit := Finding{Group: groupSpace, Name: "unlimited (ulimit -v)", State: Yes}
	var r unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_AS, &r); err != nil {
		limit.State, limit.Why = Unknown, err.Error()
	} else if r.Cur != unix.RLIM_INFINITY {
		limit.State, limit.Value = No, fmt.Sprintf("%d MiB", r.Cur>>20)
		limit.Why = "memories with guard pages take 8 GiB each; without, bounds are checked explicitly"
	}
	over := Finding{Group: groupSpace, Name: "overcommit (vm.overcommit_memory)", State: Yes, Value: setting("/proc/sys/vm/overcommit_memory")}
	if over.Value == "2" {
		over.State, over.Why = No, "reservations may count as memory in use"
	}
	maps := Finding{Group: groupSpace, Name: "mappings a process may have (vm.max_map_count)", State: Yes, Value: setting("/proc/sys/vm/max_map_count")}
	return []Finding{limit, over, maps}
}

// reservations takes as many memories' worth of address space as there is.
func reservations() []Finding {
	const size, most = 8<<30 + 64<<10, 1 << 16
	n := 0
	var err error
	for ; n < most; n++ {
		if _, err = unix.MmapPtr(-1, 0, nil, size, unix.PROT_NONE, anonymous|unix.MAP_NORESERVE); err != nil {
			break
		}
	}
	f := Finding{Group: groupSpace, Name: "memories with guard pages (8 GiB each)", State: Yes, Value: fmt.Sprintf("%d at a time", n)}
	if n == 0 {
		f.State, f.Value, f.Why = No, "", err.Error()+"; bounds are checked explicitly"
	}
	return []Finding{f}
}

func perfSettings() []Finding {
	f := Finding{Group: groupCount, Name: "kernel.perf_event_paranoid", State: Yes, Value: setting("/proc/sys/kernel/perf_event_paranoid")}
	switch f.Value {
	case "":
		f.State, f.Why = No, "the kernel has no perf events"
	case "-1", "0", "1", "2":
	default:
		f.State, f.Why = No, "over 2 only root may count"
	}
	ids := Finding{Group: groupCount, Name: "tracepoint numbers (tracefs)", State: Yes}
	if _, err := os.ReadFile("/sys/kernel/tracing/events/syscalls/sys_enter_mprotect/id"); err != nil {
		ids.State, ids.Why = No, "can't be read: "+unwrapped(err)+"; give them in "+syscount.TracepointEnv
	}
	return []Finding{f, ids}
}

func unwrapped(err error) string {
	var p *os.PathError
	if errors.As(err, &p) {
		err = p.Err
	}
	return err.Error()
}

func perfCounters() []Finding {
	return []Finding{counter("system calls counted by tracepoints", func() (*syscount.Counter, error) { return syscount.OpenPerf() })}
}

func seccompCounters() []Finding {
	return []Finding{counter("system calls counted by a seccomp trap", syscount.OpenSeccomp)}
}

func counter(name string, open func() (*syscount.Counter, error)) Finding {
	c, err := open()
	if err == nil {
		_, err = c.Read()
	}
	return yesIf(groupCount, name, err)
}

func running() []Finding {
	preempt := Finding{Group: groupRun, Name: "guest loops preempted by signal", State: Yes}
	for setting := range strings.SplitSeq(os.Getenv("GODEBUG"), ",") {
		if setting == "asyncpreemptoff=1" {
			preempt.State, preempt.Why = No, "GODEBUG has asyncpreemptoff=1; calls cost 17 ns more"
		}
	}
	paths := Finding{Group: groupRun, Name: "paths resolved by the kernel (openat2)", State: Yes}
	fd, err := unix.Openat2(unix.AT_FDCWD, "/", &unix.OpenHow{Flags: unix.O_PATH | unix.O_CLOEXEC, Resolve: unix.RESOLVE_NO_MAGICLINKS})
	if err != nil {
		paths.State, paths.Why = No, err.Error()+"; they are walked one component at a time"
	} else {
		_ = unix.Close(fd)
	}
	return []Finding{preempt, paths}
}
