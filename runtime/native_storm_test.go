//go:build linux && amd64

package runtime

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	goruntime "runtime"
	"runtime/debug"
	"runtime/pprof"
	"sync"
	"testing"
	"time"

	. "github.com/wasmjit/wasmjit/asm/amd64"
	"github.com/wasmjit/wasmjit/liftoff"
	"golang.org/x/sys/unix"
)

// mixer is a guest function that loads 12 general registers and all vector
// registers from [r14+512], mixes them rdi times with the carry alive
// between instructions, and stores them back.
func mixer(t testing.TB) uintptr {
	gp := []Reg{RAX, RCX, RDX, RBX, RSI, R8, R9, R10, R11, R12, R13, RBP}
	const gpAt, xAt = 512, 1024
	return native(t, func(a *Asm) {
		a.Push(RBP)
		for i, r := range keptRegs {
			a.MovMR(S64, At(R14, 256+8*int32(i)), r)
		}
		a.MovRR(S64, RDI, RAX)
		for i, r := range gp {
			a.MovRM(S64, r, At(R14, gpAt+8*int32(i)))
		}
		for x := range XReg(16) {
			a.MovupsRM(x, At(R14, xAt+16*int32(x)))
		}
		top := a.Pos()
		a.AluRI(ADD, S64, RAX, 0x12345)
		for i, r := range gp {
			a.AluRR(ADC, S64, gp[(i+1)%len(gp)], r)
		}
		a.AluRI(ADC, S64, RCX, 0)
		for i, r := range gp {
			a.ShiftRI(ROL, S64, r, uint8(i+1))
		}
		for x := range XReg(16) {
			a.SseRR(XORPS, x, (x+1)%16)
			a.SseRR(UNPCKLPD, x, (x+5)%16)
		}
		a.MovdXR(S64, XMM0, RDX)
		a.MovdRX(S64, RSI, XMM9)
		a.AluRI(SUB, S64, RDI, 1)
		a.JccBack(NE, top)
		for i, r := range gp {
			a.MovMR(S64, At(R14, gpAt+8*int32(i)), r)
		}
		for x := range XReg(16) {
			a.MovupsMR(At(R14, xAt+16*int32(x)), x)
		}
		for i, r := range keptRegs {
			a.MovRM(S64, r, At(R14, 256+8*int32(i)))
		}
		a.Pop(RBP)
		a.Ret()
	})
}

// storm sends SIGURG to all threads until stop is called.
func storm() (stop func()) {
	quit, done := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(done)
		for {
			select {
			case <-quit:
				return
			default:
				signalThreads()
				goruntime.Gosched()
			}
		}
	}()
	return func() { close(quit); <-done }
}

func seedMixer(b []uint64) {
	for i := range 256 {
		b[64+i] = uint64(i+1) * 0x9e3779b97f4a7c15
	}
}

// TestNativeStorm interrupts a loop that has a live value in every register
// and in the flags: the result must be that of many short runs.
func TestNativeStorm(t *testing.T) {
	entry := mixer(t)
	s := testStack(t, 0)
	const rounds, each = 4000, 500
	ref, b := block(t), block(t)
	seedMixer(ref)
	seedMixer(b)
	for range rounds {
		mustRun(t, s, &nativeCall{Entry: entry, Inst: addrOf(ref), GP: [4]uint64{each}}, &handler{})
	}
	if ref[64] == 0x9e3779b97f4a7c15 {
		t.Fatal("the loop changed nothing")
	}
	stop := storm()
	defer stop()
	h := &handler{pre: func() error { growStack(10); return nil }}
	// How many signals a run gets is the scheduler's business.
	for range 100 {
		seedMixer(b)
		mustRun(t, s, &nativeCall{Entry: entry, Inst: addrOf(b), GP: [4]uint64{rounds * each}}, h)
		for i := 64; i < 64+128; i++ {
			if b[i] != ref[i] {
				t.Errorf("cell %d: %#x, want %#x", i, b[i], ref[i])
			}
		}
		if t.Failed() || h.preemptions > 100 {
			break
		}
	}
	if h.preemptions == 0 {
		t.Error("no preemption in 100 runs")
	}
}

// TestNativeSoak runs traps, host calls, panics, overflows, collections and
// preemptions on many goroutines at once.
func TestNativeSoak(t *testing.T) {
	defer debug.SetGCPercent(debug.SetGCPercent(10))
	b := block(t)
	b[6] = uint64(addrOf(b))
	guestHost := reentrant(t)
	ud2 := native(t, function(func(a *Asm) { a.Ud2() }))
	wild := native(t, function(func(a *Asm) { a.MovRM(S32, RAX, At(RAX, 0)) }))
	var self Label
	deep := native(t, func(a *Asm) {
		a.Bind(&self)
		function(func(a *Asm) { a.PatchRel32(a.CallRel(), self.Pos()) })(a)
	})
	routine := native(t, function(func(a *Asm) {
		a.CallM(At(R15, liftoff.CtxRoutines+8*int32(liftoff.MemoryGrow)))
	}))
	mix := mixer(t)

	// The same state for everyone: the mixer's result after 2000 rounds.
	ref := block(t)
	seedMixer(ref)
	mustRun(t, testStack(t, 0), &nativeCall{Entry: mix, Inst: addrOf(ref), GP: [4]uint64{2000}}, &handler{})

	const workers = 16
	end := time.Now().Add(time.Second)
	boom := errors.New("boom")
	stop := storm()
	defer stop()
	var wg sync.WaitGroup
	for w := range workers {
		own := block(t)
		own[6] = uint64(addrOf(own))
		wg.Go(func() {
			var garbage [][]byte
			for i := w; time.Now().Before(end); i++ {
				s, err := acquireStack([]int{0, 1 << 20}[i%2])
				if err != nil {
					t.Error(err)
					return
				}
				garbage = append(garbage[:min(len(garbage), 10)], make([]byte, 1<<12))
				c := &nativeCall{Inst: addrOf(own)}
				h := &handler{}
				bad := func(fault *nativeFault, err error) { t.Errorf("case %d: fault %v, error %v", i%8, fault, err) }
				switch i % 8 {
				case 0:
					seedMixer(own)
					c.Entry, c.GP[0] = mix, 2000
					if fault, err := s.run(c, h); fault != nil || err != nil {
						bad(fault, err)
					}
					for j := 64; j < 64+128; j++ {
						if own[j] != ref[j] {
							t.Errorf("mixer: cell %d is %#x, want %#x", j, own[j], ref[j])
							break
						}
					}
				case 1:
					c.Entry, c.GP[0] = guestHost, 20
					h.host = func(f *hostFrame) error {
						growStack(int(f.GP[0]) % 7)
						if f.GP[0] > 0 {
							c := &nativeCall{Inst: addrOf(own), Entry: guestHost, GP: [4]uint64{f.GP[0] - 1}}
							if fault, err := s.run(c, h); fault != nil || err != nil {
								return errors.Join(errors.New("nested"), err)
							}
							f.SetGP(c.RetGP)
						}
						return nil
					}
					if fault, err := s.run(c, h); fault != nil || err != nil || c.RetGP != 210 {
						t.Errorf("nested runs: fault %v, error %v, sum %d", fault, err, c.RetGP)
					}
				case 2:
					c.Entry = ud2
					if fault, err := s.run(c, h); err != nil || fault == nil || fault.Signal != int(unix.SIGILL) || fault.PC != ud2+4 {
						bad(fault, err)
					}
				case 3:
					c.Entry, c.GP[0] = wild, uint64(s.base+64)
					if fault, err := s.run(c, h); err != nil || fault == nil || fault.Addr != s.base+64 {
						bad(fault, err)
					}
				case 4:
					c.Entry = guestHost
					h.host = func(f *hostFrame) error { panic(boom) }
					func() {
						defer func() {
							if v := recover(); v != boom {
								t.Errorf("recovered %v", v)
							}
						}()
						s.run(c, h)
					}()
				case 5:
					c.Entry = routine
					h.rt = func(_ liftoff.Routine, f *routineFrame) error {
						goruntime.Gosched()
						f.SetResult(77)
						return nil
					}
					if fault, err := s.run(c, h); fault != nil || err != nil || c.RetGP != 77 {
						bad(fault, err)
					}
				case 6:
					if i%64 < 8 {
						c.Entry = deep
						if fault, err := s.run(c, h); err != nil || fault == nil || !s.inGuard(fault.Addr) {
							bad(fault, err)
						}
					}
				case 7:
					func() {
						defer func() {
							if recover() == nil {
								t.Error("no panic from a nil dereference")
							}
						}()
						var f *nativeFault
						f.PC++
					}()
				}
				s.release()
			}
			goruntime.KeepAlive(garbage)
		})
	}
	wg.Wait()
}

// TestNativeProfile: samples in native code stand under a name of ours, with
// the Go functions that called it.
func TestNativeProfile(t *testing.T) {
	var out bytes.Buffer
	if err := pprof.StartCPUProfile(&out); err != nil {
		t.Skip("a profile is being taken: ", err)
	}
	entry := mixer(t)
	b := block(t)
	s := testStack(t, 0)
	for start := cpuTime(t); cpuTime(t)-start < profiled; {
		mustRun(t, s, &nativeCall{Entry: entry, Inst: addrOf(b), GP: [4]uint64{100_000}}, &handler{})
	}
	pprof.StopCPUProfile()
	r, err := gzip.NewReader(&out)
	if err != nil {
		t.Fatal(err)
	}
	profile, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"runtime.wasmCode", "runtime.TestNativeProfile"} {
		if !bytes.Contains(profile, []byte(name)) {
			t.Errorf("profile doesn't mention %s", name)
		}
	}
	if bytes.Contains(profile, []byte("_ExternalCode")) {
		t.Error("profile has samples in external code")
	}
}
