package syscount

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// wake is a futex call without any effect.
func wake(word *uint32) {
	const futexWakePrivate = 1 | 128
	unix.RawSyscall(unix.SYS_FUTEX, uintptr(unsafe.Pointer(word)), futexWakePrivate, 1)
}

// checkLoad compares with the calls that the load is known to make.
func checkLoad(t *testing.T, n Counts) {
	t.Helper()
	if n[Mprotect] != loadThreads*loadMprotect {
		t.Errorf("%d mprotects counted, %d made", n[Mprotect], loadThreads*loadMprotect)
	}
	if n[Futex] < loadThreads*loadFutex {
		t.Errorf("%d futex calls counted, at least %d made", n[Futex], loadThreads*loadFutex)
	}
	if n[Munmap] < loadThreads || n[Mmap] < loadThreads {
		t.Errorf("%d mmaps and %d munmaps counted, at least %d made of each", n[Mmap], n[Munmap], loadThreads)
	}
	if n[PkeyMprotect] != 0 || n[Membarrier] != 0 {
		t.Errorf("%d pkey_mprotects and %d membarriers counted, none made", n[PkeyMprotect], n[Membarrier])
	}
}

func TestPerf(t *testing.T) {
	got, _ := runChild(t, "perf")
	need(t, got)
	checkLoad(t, got.Inner)
}

func TestSeccomp(t *testing.T) {
	got, _ := runChild(t, "seccomp")
	need(t, got)
	checkLoad(t, got.Inner)
}

// TestThread counts on one thread while another makes the same calls.
func TestThread(t *testing.T) {
	all, err := OpenPerf(Futex)
	if err != nil {
		t.Skip("this machine can't count in this way: " + err.Error())
	}
	defer func() { _ = all.Close() }()
	const mine, others = 10, 25
	counts := make(chan int64)
	go func() {
		runtime.LockOSThread() // the thread ends with the goroutine
		c, err := all.Thread()
		if err != nil {
			t.Error(err)
			close(counts)
			return
		}
		var wg sync.WaitGroup
		wg.Go(func() {
			for range others {
				wake(new(uint32))
			}
		})
		before, err1 := c.Read()
		for range mine {
			wake(new(uint32))
		}
		after, err2 := c.Read()
		wg.Wait()
		if err := errors.Join(err1, err2, c.Close()); err != nil {
			t.Error(err)
		}
		counts <- after.Sub(before)[Futex]
	}()
	if n := <-counts; n != mine {
		t.Errorf("%d futex calls counted on a thread that made %d", n, mine)
	}
	n, err := all.Read()
	if err != nil || n[Futex] < mine+others {
		t.Errorf("%d futex calls counted of %d, %v", n[Futex], mine+others, err)
	}
}

// TestMethodsAgree counts one load in both ways at once. What other threads
// do between two readings makes the difference between inner and outer.
func TestMethodsAgree(t *testing.T) {
	got, _ := runChild(t, "both")
	need(t, got)
	checkLoad(t, got.Seccomp)
	for _, c := range Calls() {
		if got.Seccomp[c] < got.Inner[c] || got.Seccomp[c] > got.Outer[c] {
			t.Errorf("%v: seccomp counts %d, perf from %d to %d", c, got.Seccomp[c], got.Inner[c], got.Outer[c])
		}
	}
}

// TestStrace compares with what strace sees between the child's marks.
func TestStrace(t *testing.T) {
	if _, err := exec.LookPath("strace"); err != nil {
		t.Skip("strace is not installed")
	}
	log := filepath.Join(t.TempDir(), "log")
	args := []string{"strace", "-f", "-qq", "-o", log, "-e", "trace=close,mprotect,pkey_mprotect,mmap,munmap,madvise,membarrier,futex"}
	if out, err := exec.Command(args[0], append(args[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("strace can't trace here: %s", out)
	}
	got, _ := runChild(t, "perf", args...)
	need(t, got)
	checkLoad(t, got.Inner)
	b, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	outer := straced(t, string(b), outerMark)
	inner := straced(t, string(b), innerMark)
	if n := inner[Mprotect]; n != got.Inner[Mprotect] {
		t.Errorf("strace sees %d mprotects, perf counts %d", n, got.Inner[Mprotect])
	}
	for _, c := range Calls() {
		if got.Outer[c] < inner[c] || got.Outer[c] > outer[c] {
			t.Errorf("%v: perf counts %d, strace sees from %d to %d", c, got.Outer[c], inner[c], outer[c])
		}
	}
}

// straced counts the calls that begin between two marks.
func straced(t *testing.T, log string, mark int) Counts {
	t.Helper()
	var n Counts
	closed := "close(" + strconv.Itoa(mark) // and ")" or "<unfinished"
	parts := strings.Split(log, closed)
	if len(parts) != 3 {
		t.Fatalf("the log has %d marks %s instead of 2", len(parts)-1, closed)
	}
	for _, m := range regexp.MustCompile(`(?m)^\d+ +(\w+)\(`).FindAllStringSubmatch(parts[1], -1) {
		for _, c := range Calls() {
			if c.String() == m[1] {
				n[c]++
			}
		}
	}
	return n
}

// TestPerfStat compares with perf's count of the whole process: Go makes no
// mprotect of its own.
func TestPerfStat(t *testing.T) {
	if _, err := exec.LookPath("perf"); err != nil {
		t.Skip("perf is not installed")
	}
	args := []string{"perf", "stat", "-x", ",", "-e", "syscalls:sys_enter_mprotect", "-e", "syscalls:sys_enter_futex"}
	if out, err := exec.Command(args[0], append(args[1:], "true")...).CombinedOutput(); err != nil {
		t.Skipf("perf can't count here: %s", out)
	}
	for _, how := range []string{"perf", "seccomp"} {
		t.Run(how, func(t *testing.T) {
			got, stat := runChild(t, how, args...)
			need(t, got)
			total := func(call Call) int64 {
				m := regexp.MustCompile(`(?m)^(\d+),.*sys_enter_` + call.String()).FindStringSubmatch(stat)
				if m == nil {
					t.Fatalf("no count of %v in %q", call, stat)
				}
				n, err := strconv.ParseInt(m[1], 10, 64)
				if err != nil {
					t.Fatal(err)
				}
				return n
			}
			if n := total(Mprotect); n != got.Inner[Mprotect] {
				t.Errorf("perf stat has %d mprotects, counted were %d", n, got.Inner[Mprotect])
			}
			if n := total(Futex); n < got.Outer[Futex] {
				t.Errorf("perf stat has %d futex calls, counted were %d", n, got.Outer[Futex])
			}
		})
	}
}
