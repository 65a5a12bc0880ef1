//go:build amd64 || arm64

package attack

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	goruntime "runtime"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/liftoff"
	"github.com/wasmjit/wasmjit/nativemodule"
	"github.com/wasmjit/wasmjit/runtime"
)

// target is the code under attack.
type target struct {
	setup Setup
	// addr is the first byte of a function that returns 7, which is longer
	// than the payload.
	addr uintptr
	// read copies the function.
	read   func() []byte
	before []byte

	// Of the compiled victim.
	store *runtime.Store
	code  *nativemodule.Module
	inst  *runtime.Instance

	// watched is what Attack.during gave.
	watched error

	// hold opens a scope that may write somewhere, in the goroutine that
	// calls it, and gives the function that closes it.
	hold func() (release func(), err error)
}

// attempt makes the attack in this process.
func attempt(a *Attack, s Setup) (Outcome, error) {
	goruntime.LockOSThread()
	t := &target{setup: s}
	var err error
	if a.scoped {
		err = t.prepareSpace()
	} else {
		err = t.prepareModule(a)
	}
	var mode *codemem.ModeError
	var unfit *unfitError
	if errors.As(err, &mode) {
		return Outcome{Skipped: mode.Error()}, nil
	}
	if errors.As(err, &unfit) {
		return Outcome{Skipped: unfit.Error()}, nil
	}
	if err != nil {
		return Outcome{}, err
	}
	t.before = t.read()
	fmt.Println(lineReady)
	release := func() {}
	if a.scoped && t.hold != nil {
		if release, err = t.hold(); err != nil {
			return Outcome{}, err
		}
	}
	err = a.run(t)
	release()
	var done *doneError
	switch {
	case errors.As(err, &unfit):
		return Outcome{Skipped: unfit.Error()}, nil
	case errors.As(err, &done):
		return Outcome{Changed: true, How: done.Error()}, nil
	case err != nil:
		return Outcome{How: err.Error()}, nil
	}
	return t.look()
}

// unfitError says that the attack can't be made here.
type unfitError struct{ why string }

func (e *unfitError) Error() string { return e.why }

// doneError is the success of an attack on something other than the code.
type doneError struct{ what string }

func (e *doneError) Error() string { return e.what }

// look finds out whether the code has changed, by running it where it can be.
func (t *target) look() (Outcome, error) {
	if t.inst != nil {
		r, err := t.inst.Call(context.Background(), "call")
		if err == nil && r[0] == thirteen {
			return Outcome{Changed: true, How: "the guest runs the attacker's code"}, nil
		}
		if err != nil {
			return Outcome{Changed: true, How: "the guest's code is gone: " + err.Error()}, nil
		}
	}
	if !bytes.Equal(t.before, t.read()) {
		return Outcome{Changed: true, How: "the code has other bytes"}, nil
	}
	return Outcome{How: "without effect on the code"}, nil
}

func arch() liftoff.Arch {
	if goruntime.GOARCH == "arm64" {
		return liftoff.ARM64
	}
	return liftoff.AMD64
}

// prepareModule compiles and instantiates the victim.
func (t *target) prepareModule(a *Attack) error {
	m := t.setup.Mode
	store, err := runtime.NewStore(runtime.Config{BoundsAuto: true, Locked: t.setup.Locked})
	if err != nil {
		return err
	}
	dm, err := decoder.Decode(victim)
	if err != nil {
		return err
	}
	o := nativemodule.Options{
		Liftoff:    liftoff.Options{Arch: arch(), CPU: liftoff.HostCPU(), Bounds: store.Bounds(), SplitInstance: t.setup.Locked},
		Protection: m,
		Live:       m.Patchable() && !t.setup.Locked,
		PhaseDone: func(phase string) {
			if phase == "compile" && a.during != nil {
				t.watched = a.during(t)
			}
		},
	}
	if goruntime.GOARCH != "amd64" {
		o.Live = false // there are slots for amd64 only
	}
	if err := o.Check(); err != nil {
		return &unfitError{err.Error()}
	}
	code, err := nativemodule.Compile(context.Background(), dm, o)
	if err != nil {
		return err
	}
	if t.setup.Locked {
		if err := runtime.LockProcess(); err != nil {
			return &unfitError{err.Error()}
		}
	}
	inst, err := store.Instantiate(context.Background(), code, nil)
	if err != nil {
		return err
	}
	for _, name := range []string{"seven", "call", "indirect"} {
		if r, err := inst.Call(context.Background(), name); err != nil || r[0] != seven {
			return fmt.Errorf("the victim's %s gives %v, %v", name, r, err)
		}
	}
	t.store, t.code, t.inst = store, code, inst
	t.addr = code.Address(fnSeven)
	t.read = func() []byte { return code.Code(fnSeven) }
	if n := len(t.read()); n < len(payload) {
		return fmt.Errorf("the victim's function has %d bytes only", n)
	}
	return nil
}

// prepareSpace publishes a function in a space of its own whose scopes can be
// held open.
func (t *target) prepareSpace() error {
	arena, err := codemem.Default()
	if err != nil {
		return err
	}
	m := t.setup.Mode
	// Never run: whether it changes is seen by its bytes.
	code := bytes.Repeat([]byte{seven}, 32)
	if !m.Patchable() {
		return t.prepareSealed(arena, code)
	}
	s, err := arena.NewSpace(codemem.SpaceOptions{Mode: m, Expect: 4096, Owner: "attack", Patched: true, Slots: 1})
	if err != nil {
		return err
	}
	h := codemem.NewHolder()
	w, err := s.Open(h, codemem.SiteBatch, "attack.add")
	if err != nil {
		return err
	}
	c, err := w.Reserve(len(code))
	if err != nil {
		return err
	}
	if t.addr, err = place(c, w, code); err != nil {
		return err
	}
	if err := s.Publish(); err != nil {
		return err
	}
	t.read = func() []byte { return s.Read(t.addr, len(code)) }
	// A scope of the kind that a switching mode opens while others run.
	site := codemem.SitePublish
	if m == codemem.Fine {
		site = codemem.SiteBatch
	}
	t.hold = func() (func(), error) {
		w, err := s.Open(h, site, "attack.hold")
		if err != nil {
			return nil, err
		}
		return func() { _ = w.Close() }, nil
	}
	return nil
}

// prepareSealed is the same where published code can't change: the scope that
// is held is another space's.
func (t *target) prepareSealed(arena *codemem.Arena, code []byte) error {
	s, err := arena.NewSpace(codemem.SpaceOptions{Mode: t.setup.Mode, Expect: 4096, Owner: "attack"})
	if err != nil {
		return err
	}
	c, w, err := s.NewChunk(len(code), "attack.add")
	if err != nil {
		return err
	}
	if t.addr, err = place(c, w, code); err != nil {
		return err
	}
	if err := s.Seal(); err != nil {
		return err
	}
	t.read = func() []byte { return s.Read(t.addr, len(code)) }
	t.hold = func() (func(), error) {
		other, err := arena.NewSpace(codemem.SpaceOptions{Mode: t.setup.Mode, Expect: 4096, Owner: "attack"})
		if err != nil {
			return nil, err
		}
		_, w, err := other.NewChunk(16, "attack.hold")
		if err != nil {
			return nil, err
		}
		return func() { _ = w.Close() }, nil
	}
	return nil
}

// place writes code through a scope and closes it.
func place(c *codemem.Chunk, w *codemem.WriteScope, code []byte) (uintptr, error) {
	addr, ok := c.Alloc(len(code))
	if !ok {
		return 0, errors.New("a chunk is smaller than was asked for")
	}
	w.Write(addr, code)
	return addr, w.Close()
}

// pointer converts an address outside the Go heap.
func pointer(addr uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&addr)) }

func bytesAt(addr, n uintptr) []byte { return unsafe.Slice((*byte)(pointer(addr)), n) }

// overwrite is the store that every attack tries in the end.
//
//go:noinline
func overwrite(addr uintptr) { copy(bytesAt(addr, uintptr(len(payload))), payload) }

var pageSize = uintptr(unix.Getpagesize())

// page is the page of the code. The payload lies on it as a whole: functions
// are aligned to 16 bytes.
func (t *target) page() uintptr { return t.addr &^ (pageSize - 1) }

// Works reports why code can't be compiled and run in mode m in this process,
// or nil.
func Works(m codemem.Mode) error {
	t := &target{setup: Setup{Mode: m}}
	return t.prepareModule(&Attack{})
}
