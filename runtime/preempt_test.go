//go:build linux

package runtime

import (
	"bytes"
	"context"
	"errors"
	"os"
	"os/exec"
	goruntime "runtime"
	"runtime/pprof"
	"strings"
	"testing"
	"time"

	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/testenv"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
	"github.com/wasmjit/wasmjit/liftoff"
)

// looper makes a module with endless loops: by itself, through a host
// function, by recursion, and one that counts in memory.
func looper() *wasmtest.Module {
	m := wasmtest.New()
	none := m.Type(nil, nil)
	m.ImportFunc("env", "host", none)
	m.Export("m", decoder.ExternMemory, m.Memory(1, 1))
	m.Func("spin", none, nil, code(func(c *wasmtest.Code) { c.Block(0x03, wasmtest.Empty).OpU(0x0c, 0).End() }))
	m.Func("count", none, nil, code(func(c *wasmtest.Code) {
		c.Block(0x03, wasmtest.Empty).I32(0).I32(0).Load(0x29, 0).I64(1).Op(0x7c).Store(0x37, 0).OpU(0x0c, 0).End()
	}))
	m.Func("call", none, nil, code(func(c *wasmtest.Code) { c.Block(0x03, wasmtest.Empty).Call(0).OpU(0x0c, 0).End() }))
	leaf := m.Func("", none, nil, nil)
	m.Func("leaf", none, nil, code(func(c *wasmtest.Code) { c.Block(0x03, wasmtest.Empty).Call(leaf).OpU(0x0c, 0).End() }))
	m.Func("host", none, nil, code(func(c *wasmtest.Code) { c.Call(0) }))
	return m
}

func startLooper(t testing.TB, s *Store, host func(ctx context.Context) error) *Instance {
	t.Helper()
	f, err := s.WrapFunc(host)
	if err != nil {
		t.Fatal(err)
	}
	return start(t, s, looper(), Imports{"env": {"host": f}})
}

func nothing(context.Context) error { return nil }

func TestCancelLoop(t *testing.T) {
	s := newStore(t, Config{})
	i := startLooper(t, s, nothing)
	why := errors.New("enough")
	for _, name := range []string{"spin", "count", "call", "leaf"} {
		ctx, cancel := context.WithCancelCause(bg)
		timer := time.AfterFunc(5*time.Millisecond, func() { cancel(why) })
		_, err := i.Call(ctx, name)
		if !errors.Is(err, context.Canceled) || !errors.Is(err, why) {
			t.Errorf("%s: %v", name, err)
		}
		timer.Stop()
	}
	ctx, cancel := context.WithTimeout(bg, 5*time.Millisecond)
	defer cancel()
	if _, err := i.Call(ctx, "spin"); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("deadline: %v", err)
	}
	// Nothing lingers.
	if _, err := i.Call(bg, "host"); err != nil {
		t.Error(err)
	}
}

// A host function that blocks watches its context.
func TestCancelHost(t *testing.T) {
	s := newStore(t, Config{})
	entered := make(chan bool, 1)
	i := startLooper(t, s, func(ctx context.Context) error {
		entered <- true
		<-ctx.Done()
		return ctx.Err()
	})
	ctx, cancel := context.WithCancel(bg)
	go func() {
		<-entered
		cancel()
	}()
	if _, err := i.Call(ctx, "host"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Cancelling the outer call ends a nested one, and a nested context of its
// own ends only the nested call.
func TestCancelNested(t *testing.T) {
	s := newStore(t, Config{})
	var i *Instance
	var inner error
	deadline := false
	i = startLooper(t, s, func(ctx context.Context) error {
		if deadline {
			var cancel func()
			ctx, cancel = context.WithTimeout(ctx, 5*time.Millisecond)
			defer cancel()
		}
		_, inner = i.Call(ctx, "spin")
		if deadline {
			return nil
		}
		return inner
	})
	ctx, cancel := context.WithTimeout(bg, 5*time.Millisecond)
	defer cancel()
	if _, err := i.Call(ctx, "host"); !errors.Is(err, context.DeadlineExceeded) || !errors.Is(inner, context.DeadlineExceeded) {
		t.Errorf("outer %v, inner %v", err, inner)
	}
	deadline = true
	if _, err := i.Call(bg, "host"); err != nil || !errors.Is(inner, context.DeadlineExceeded) {
		t.Errorf("outer %v, inner %v", err, inner)
	}
}

func TestCancelStart(t *testing.T) {
	s := newStore(t, Config{})
	m := wasmtest.New()
	m.Start(m.Func("", m.Type(nil, nil), nil, code(func(c *wasmtest.Code) { c.Block(0x03, wasmtest.Empty).OpU(0x0c, 0).End() })))
	mod := load(t, s, m.Bytes())
	ctx, cancel := context.WithTimeout(bg, 5*time.Millisecond)
	defer cancel()
	if _, err := s.Instantiate(ctx, mod, nil); !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
	if len(s.instances) != 0 {
		t.Error("an instance whose start function was cancelled is left")
	}
}

// An endless loop stalls neither the garbage collector nor other goroutines.
func TestLoopAndGC(t *testing.T) {
	s := newStore(t, Config{})
	i := startLooper(t, s, nothing)
	ctx, cancel := context.WithCancel(bg)
	done := make(chan error)
	n := goruntime.GOMAXPROCS(0) + 1
	for range n {
		go func() {
			_, err := i.Call(ctx, "count")
			done <- err
		}()
	}
	before := i.Memory("m").Bytes()[:8]
	seen := loadWord(i.memories[0].base)
	for range 4 {
		goruntime.GC()
		for loadWord(i.memories[0].base) == seen {
			time.Sleep(time.Millisecond)
		}
		seen = loadWord(i.memories[0].base)
	}
	cancel()
	for range n {
		if err := <-done; !errors.Is(err, context.Canceled) {
			t.Error(err)
		}
	}
	if bytes.Equal(before, make([]byte, 8)) {
		t.Error("the slice doesn't show the guest's writes")
	}
}

// A CPU profile taken during a guest loop charges it to the caller.
func TestProfile(t *testing.T) {
	if os.Getenv("WASMJIT_TEST_CHILD") == "" {
		runChild(t, "profile")
		return
	}
	s := newStore(t, Config{})
	i := startLooper(t, s, nothing)
	var b bytes.Buffer
	if err := pprof.StartCPUProfile(&b); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(bg)
	go func() {
		for start := cpuTime(t); cpuTime(t)-start < profiled; {
			time.Sleep(5 * time.Millisecond)
		}
		cancel()
	}()
	if _, err := i.Call(ctx, "spin"); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
	pprof.StopCPUProfile()
	names := gunzip(t, b.Bytes())
	if !bytes.Contains(names, []byte("runtime.(*guestCall).run")) {
		t.Error("the profile doesn't name the guest's caller")
	}
}

var sink *int

func goFault() (err error) {
	defer func() { err, _ = recover().(error) }()
	*sink = 1
	return nil
}

// A fault in Go code stays Go's, before, during and after guest code.
func TestGoFault(t *testing.T) {
	s := newStore(t, Config{})
	faults := 0
	i := startLooper(t, s, func(context.Context) error {
		if goFault() != nil {
			faults++
		}
		return nil
	})
	for range 3 {
		if _, err := i.Call(bg, "host"); err != nil {
			t.Fatal(err)
		}
		var re goruntime.Error
		if err := goFault(); !errors.As(err, &re) || !strings.Contains(err.Error(), "nil pointer") {
			t.Errorf("nil dereference gave %v", err)
		}
	}
	if faults != 3 {
		t.Errorf("%d faults in the host function", faults)
	}
}

// A fault of compiled code that isn't a guest memory's ends the process with a
// diagnosis; it is never a trap.
func TestInternalFault(t *testing.T) {
	if mode := os.Getenv("WASMJIT_TEST_CHILD"); mode != "" {
		s := newStore(t, Config{})
		i := startLooper(t, s, nothing)
		switch mode {
		case "base":
			// As if compiled code had computed a wrong address.
			storeWord(i.block+liftoff.InstMemBase, 0x10000)
		case "own":
			// As if it had computed that of its own code.
			storeWord(i.block+liftoff.InstMemBase, uint64(i.Func("count").entry))
		default:
			// As if a call had gone astray: past the last function lie trap
			// instructions that no function owns.
			f := i.Func("host")
			i.Func("count").entry = f.entry + uintptr(i.module.Size(f.index))
		}
		_, err := i.Call(bg, "count")
		t.Fatalf("the process lives: %v", err)
	}
	for _, mode := range []string{"base", "own", "code"} {
		cmd := testenv.Self("-test.run=^TestInternalFault$")
		cmd.Env = append(os.Environ(), "WASMJIT_TEST_CHILD="+mode)
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 2 {
			t.Fatalf("%s: %v\n%s", mode, err, out)
		}
		want := []string{"internal fault", regNames[memRegNumber] + " 0x"}
		if mode == "code" {
			want = append(want, "outside every function")
		} else {
			want = append(want, "signal 11", "in function 2 (count)", "code from offset 0x")
		}
		if mode == "base" {
			want = append(want, "address 0x10000")
		}
		for _, w := range want {
			if !strings.Contains(string(out), w) {
				t.Errorf("%s: the diagnosis lacks %q:\n%s", mode, w, out)
			}
		}
		if strings.Contains(string(out), "out of bounds memory access") {
			t.Errorf("%s: reported as a trap:\n%s", mode, out)
		}
	}
}
