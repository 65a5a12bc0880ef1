//go:build linux && amd64

package runtime

import (
	"bytes"
	"fmt"
	"io"
	"os"
	goruntime "runtime"
	"runtime/debug"
	"runtime/pprof"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	. "github.com/wasmjit/wasmjit/asm/amd64"
	"github.com/wasmjit/wasmjit/liftoff"
	"golang.org/x/arch/x86/x86asm"
	"golang.org/x/sys/unix"
)

// Signals that make Go walk the stack: they may arrive at any instruction of
// compiled code and of the stubs.

// si_code of signals that are sent.
const (
	siQueue = -1 // sigqueue
	siTkill = -6 // tgkill
)

// raw appends bytes that the assembler has no instruction for.
func raw(a *Asm, code []byte) {
	for _, c := range code {
		a.Reserve(1)
		at := a.Pos()
		a.Int3()
		a.Bytes(at, at+1)[0] = c
	}
}

// signalSelf emits a system call that sends a signal to the thread itself,
// so that it arrives right behind the call. It uses [r14+2048].
func signalSelf(a *Asm, signo unix.Signal, code int32) {
	const info = 2048
	a.AluRR(XOR, S32, RAX, RAX)
	for i := range int32(16) {
		a.MovMR(S64, At(R14, info+8*i), RAX)
	}
	a.MovRI32(RAX, uint32(code))
	a.MovMR(S32, At(R14, info+8), RAX)
	a.Lea(S64, R10, At(R14, info))
	a.MovRI32(RDI, uint32(os.Getpid()))
	a.MovRI32(RSI, uint32(unix.Gettid()))
	a.MovRI32(RDX, uint32(signo))
	a.MovRI32(RAX, unix.SYS_RT_TGSIGQUEUEINFO)
	raw(a, []byte{0x0f, 0x05})
}

// childSelf is a child that sends itself a signal in compiled code.
func childSelf(t *testing.T, signo unix.Signal, code int32) {
	goruntime.LockOSThread()
	b := block(t)
	entry := native(t, function(func(a *Asm) { signalSelf(a, signo, code) }))
	fault, err := testStack(t, 0).run(&nativeCall{Entry: entry, Inst: addrOf(b)}, &handler{})
	t.Errorf("run came back: fault %v, error %v", fault, err)
}

// TestNativeSignalDump: a signal that ends the process, sent to a thread in
// compiled code, gives a goroutine dump with the code and its callers.
func TestNativeSignalDump(t *testing.T) {
	for _, tt := range []struct {
		code   int32
		signos []unix.Signal
		modes  []string
	}{
		{siTkill, []unix.Signal{unix.SIGQUIT, unix.SIGABRT, unix.SIGSEGV, unix.SIGBUS, unix.SIGFPE, unix.SIGILL, unix.SIGTRAP}, []string{"", "asyncpreemptoff=1"}},
		// Go can't panic in what it takes for a system call.
		{siQueue, []unix.Signal{unix.SIGFPE}, []string{"asyncpreemptoff=1"}},
	} {
		for _, godebug := range tt.modes {
			inner := "runtime.wasmCode("
			if godebug != "" {
				inner = "runtime.switchInSyscall(" // where Go takes it for a system call
			}
			for _, signo := range tt.signos {
				cmd, out := child(t, fmt.Sprintf("self %d %d", signo, tt.code), godebug)
				err := cmd.Run()
				name := fmt.Sprintf("%s, GODEBUG=%q", unix.SignalName(signo), godebug)
				checkDump(t, name, signo, oneThread, err, out.String(), inner, "runtime.TestNativeChild(")
			}
		}
	}
}

// TestNativeQueuedFault: what sigqueue pretends to be a fault is a panic, as it
// is in Go code.
func TestNativeQueuedFault(t *testing.T) {
	if syscallMode.Load() {
		t.Skip("fatal in system call mode")
	}
	goruntime.LockOSThread()
	defer goruntime.UnlockOSThread()
	b := block(t)
	s := testStack(t, 0)
	c := &nativeCall{Entry: native(t, function(func(a *Asm) { signalSelf(a, unix.SIGFPE, siQueue) })), Inst: addrOf(b)}
	for range 3 {
		func() {
			defer func() {
				err, _ := recover().(goruntime.Error)
				if err == nil || !strings.Contains(err.Error(), "floating point error") {
					t.Errorf("recovered %v, want the error of SIGFPE", err)
				}
			}()
			fault, err := s.run(c, &handler{})
			t.Errorf("run came back: fault %v, error %v", fault, err)
		}()
		mustRun(t, s, &nativeCall{Entry: native(t, function(func(a *Asm) {})), Inst: addrOf(b)}, &handler{})
	}
}

// childStop is a child whose stubs have an endless loop at an offset. Once
// it stands there, it checks that a CPU profile shows no stray samples, and
// sends itself a signal.
func childStop(t *testing.T, signo unix.Signal, offset int) {
	goruntime.LockOSThread()
	goruntime.GOMAXPROCS(4) // a stub that isn't left keeps its processor
	debug.SetGCPercent(-1)
	if err := nativeInit(); err != nil {
		t.Fatal(err)
	}
	table, code := newStubBuilder().build()
	copy(code[offset:], []byte{0xeb, 0xfe}) // a jump to itself
	base := native(t, func(a *Asm) { raw(a, code) })
	table.relocate(base)
	stubs = table
	sigs.quietLo, sigs.quietLen = base, table.quietLen
	sigs.trapPad, sigs.preemptPad = table.trapPad, table.preemptPad

	b := block(t)
	b[6] = uint64(addrOf(b))
	entry := native(t, function(func(a *Asm) {
		a.AluRI(SUB, S64, RSP, 16)
		callHost(a)
		a.CallM(At(R15, liftoff.CtxRoutines+8*int32(liftoff.MemoryGrow)))
		a.MovRI32(RAX, 100_000)
		top := a.Pos()
		a.AluRI(SUB, S64, RAX, 1)
		a.JccBack(NE, top)
	}))
	ud2 := native(t, function(func(a *Asm) { a.Ud2() }))

	var profile bytes.Buffer
	if err := pprof.StartCPUProfile(&profile); err != nil {
		t.Fatal(err)
	}
	var progress atomic.Uint64
	tid := unix.Gettid()
	stop := storm()
	go func() {
		awaitSpin(tid, &progress)
		// Go's traceback may crash at a goroutine that leaves a system call
		// meanwhile, so there must be none.
		stop()
		pprof.StopCPUProfile()
		if bytes.Contains(gunzip(t, profile.Bytes()), []byte("_ExternalCode")) {
			fmt.Println("unexpected: samples in external code")
		}
		unix.Tgkill(os.Getpid(), tid, signo)
	}()
	s := testStack(t, 0)
	h := &handler{
		host: func(*hostFrame) error { return nil },
		rt:   func(liftoff.Routine, *routineFrame) error { return nil },
		pre:  func() error { return nil },
	}
	for {
		mustRun(t, s, &nativeCall{Entry: entry, Inst: addrOf(b)}, h)
		if fault, err := s.run(&nativeCall{Entry: ud2, Inst: addrOf(b)}, h); fault == nil || err != nil {
			t.Fatalf("ud2: fault %v, error %v", fault, err)
		}
		progress.Add(1)
	}
}

// awaitSpin returns once the thread has used 20 ms of processor time without
// progress.
func awaitSpin(tid int, progress *atomic.Uint64) {
	clock := int32(^tid<<3 | 6) // the kernel's CPUCLOCK_PERTHREAD, CPUCLOCK_SCHED
	var seen uint64
	var since int64
	for {
		var now unix.Timespec
		if err := unix.ClockGettime(clock, &now); err != nil {
			panic(err)
		}
		if n := progress.Load(); n != seen || since == 0 {
			seen, since = n, now.Nano()
		} else if now.Nano()-since > 20e6 {
			return
		}
		time.Sleep(time.Millisecond)
	}
}

// allStubs=1 makes TestNativeStubSignals stop at every instruction, which
// takes some 20 seconds, and not at a selection.
const allStubs = "WASMJIT_TEST_STUBS"

// TestNativeStubSignals stops a child at an instruction of the stubs and
// sends it a signal: the dump is that of compiled code.
func TestNativeStubSignals(t *testing.T) {
	table, code := newStubBuilder().build()
	end := int(table.routines[liftoff.MemoryGrow+1]) // the other routines' stubs don't differ
	var offsets []int
	for at := 0; at < end; {
		inst, err := x86asm.Decode(code[at:], 64)
		if err != nil {
			t.Fatal(err)
		}
		if inst.Op != x86asm.INT && code[at] != 0xcc {
			offsets = append(offsets, at)
		}
		at += inst.Len
	}
	step := 16
	if os.Getenv(allStubs) != "" {
		step = 1
	}
	var wg sync.WaitGroup
	next := make(chan int)
	for range 2 {
		wg.Go(func() {
			for i := range next {
				signo := [...]unix.Signal{unix.SIGQUIT, unix.SIGSEGV, unix.SIGABRT}[i/step%3]
				cmd, out := child(t, fmt.Sprintf("stop %d %d", signo, offsets[i]), "")
				err := cmd.Run()
				name := fmt.Sprintf("%s at offset %#x", unix.SignalName(signo), offsets[i])
				frames := []string{"runtime.TestNativeChild(", "runtime.wasmCode("}
				if offsets[i] >= int(table.quietLen) {
					frames = frames[:1] // the scheduler may have interrupted the loop
				}
				checkDump(t, name, signo, oneThread, err, out.String(), frames...)
			}
		})
	}
	for i := 0; i < len(offsets); i += step {
		next <- i
	}
	close(next)
	wg.Wait()
}

// TestNativeGoroutineDump sends a process that spins in compiled code the
// signals that make Go print its goroutines. Any of its threads may get them.
func TestNativeGoroutineDump(t *testing.T) {
	for _, godebug := range []string{"", "asyncpreemptoff=1"} {
		for _, signo := range []unix.Signal{unix.SIGQUIT, unix.SIGABRT, unix.SIGSEGV} {
			cmd, out := child(t, "spin", godebug)
			r, w, err := os.Pipe()
			if err != nil {
				t.Fatal(err)
			}
			cmd.ExtraFiles = []*os.File{w}
			if err := cmd.Start(); err != nil {
				t.Fatal(err)
			}
			w.Close()
			io.Copy(io.Discard, r) // until the child is in its loop
			r.Close()
			cmd.Process.Signal(signo)
			err = cmd.Wait()
			name := fmt.Sprintf("%s, GODEBUG=%q", unix.SignalName(signo), godebug)
			checkDump(t, name, signo, anyThread, err, out.String(), "runtime.TestNativeChild(")
		}
	}
}

// childSpin announces itself from a host function and spins.
func childSpin(t *testing.T) {
	b := block(t)
	b[6] = uint64(addrOf(b))
	entry := native(t, function(func(a *Asm) {
		a.AluRI(SUB, S64, RSP, 16)
		callHost(a)
		top := a.Pos()
		a.AluRI(ADD, S64, RAX, 1)
		a.JmpBack(top)
	}))
	h := &handler{host: func(*hostFrame) error { os.NewFile(3, "ready").Close(); return nil }}
	testStack(t, 0).run(&nativeCall{Entry: entry, Inst: addrOf(b)}, h)
	t.Error("the loop ended")
}

// TestNativeStubFault: a fault in a stub that switches stacks ends a run like
// any other fault that is no trap.
func TestNativeStubFault(t *testing.T) {
	b := block(t)
	s := testStack(t, 0)
	// The stub that enters, gone astray.
	resume := stubs.entry
	defer func() { stubs.entry = resume }()
	code := native(t, func(a *Asm) { a.Ud2() })
	quietLo, quietLen := sigs.quietLo, sigs.quietLen
	defer func() { sigs.quietLo, sigs.quietLen = quietLo, quietLen }()
	sigs.quietLo, sigs.quietLen = code, 2
	stubs.entry = code
	fault, err := s.run(&nativeCall{Entry: code, Inst: addrOf(b)}, &handler{})
	if err != nil || fault == nil || fault.Signal != int(unix.SIGILL) || fault.PC != code {
		t.Errorf("fault %v, error %v, want SIGILL at %#x", fault, err, code)
	}
}
