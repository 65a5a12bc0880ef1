package syscount

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// asChild makes the test binary count calls of a known load, in the way that
// the value says: perf, seccomp or both. It prints a tally as JSON.
const asChild = "WASMJIT_TEST_SYSCOUNT"

func TestMain(m *testing.M) {
	if how := os.Getenv(asChild); how != "" {
		child(how)
		return
	}
	os.Exit(m.Run())
}

// tally is what a child counted. The readings lie inside each other:
// Inner's first is behind Outer's first, its last before Outer's last.
type tally struct {
	Error        string
	Inner, Outer Counts // of the method asked for; of perf where it is both
	Seccomp      Counts // between the readings of Inner and Outer, where it is both
}

// The load's known calls.
const (
	loadThreads  = 4
	loadMprotect = 250 // by each thread
	loadFutex    = 100
)

// marker is issued around the readings; strace prints the descriptor.
const outerMark, innerMark = -77, -78

func mark(n int) { _ = unix.Close(n) }

func child(how string) {
	var t tally
	if err := t.count(how); err != nil {
		t.Error = err.Error()
	}
	_ = json.NewEncoder(os.Stdout).Encode(t)
}

func (t *tally) count(how string) error {
	var outer, inner *Counter
	var err error
	switch how {
	case "perf":
		outer, err = OpenPerf()
		inner = outer
	case "seccomp":
		outer, err = OpenSeccomp()
		inner = outer
	case "both":
		if outer, err = OpenPerf(); err != nil {
			return err
		}
		inner, err = OpenSeccomp()
	}
	if err != nil {
		return err
	}
	read := func(c *Counter) Counts {
		n, e := c.Read()
		if e != nil {
			err = e
		}
		return n
	}
	// seccomp counts a call before perf does; let no call be between the two
	// while both are read.
	const quiet = 5 * time.Millisecond
	time.Sleep(quiet)
	mark(outerMark)
	o0, s0, i0 := read(outer), read(inner), read(outer)
	mark(innerMark)
	load()
	time.Sleep(quiet)
	mark(innerMark)
	i1, s1, o1 := read(outer), read(inner), read(outer)
	mark(outerMark)
	t.Outer, t.Inner, t.Seccomp = o1.Sub(o0), i1.Sub(i0), s1.Sub(s0)
	return err
}

// load makes the known calls on threads of its own, old and new, among what
// the scheduler and the collector do.
func load() {
	var wg sync.WaitGroup
	var mu sync.Mutex
	garbage := make([][]byte, 64)
	for range loadThreads {
		wg.Go(func() {
			runtime.LockOSThread() // the thread ends with the goroutine
			p, err := unix.Mmap(-1, 0, 4096, unix.PROT_READ, unix.MAP_PRIVATE|unix.MAP_ANON)
			if err != nil {
				panic(err)
			}
			word := new(uint32)
			for i := range loadMprotect {
				if err := unix.Mprotect(p, unix.PROT_READ|i%2*unix.PROT_WRITE); err != nil {
					panic(err)
				}
				if i < loadFutex {
					wake(word)
				}
				mu.Lock()
				garbage[i%len(garbage)] = make([]byte, 100_000)
				if i%50 == 0 {
					time.Sleep(time.Microsecond)
				}
				mu.Unlock()
			}
			if err := unix.Munmap(p); err != nil {
				panic(err)
			}
		})
	}
	wg.Wait()
}

// runChild runs this test in a child, below the given command if any.
func runChild(t *testing.T, how string, below ...string) (tally, string) {
	t.Helper()
	args := append(below, os.Args[0])
	c := exec.Command(args[0], args[1:]...)
	c.Env = append(os.Environ(), asChild+"="+how)
	var out, errs bytes.Buffer
	c.Stdout, c.Stderr = &out, &errs
	if err := c.Run(); err != nil {
		t.Fatalf("%s: %v\n%s%s", strings.Join(args, " "), err, &out, &errs)
	}
	var got tally
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatalf("%v: %q", err, &out)
	}
	return got, errs.String()
}

// need skips the test where this machine can't count in the given way.
func need(t *testing.T, got tally) {
	t.Helper()
	if got.Error != "" {
		t.Skip("this machine can't count in this way: " + got.Error)
	}
}
