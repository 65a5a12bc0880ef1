//go:build amd64 || arm64

package attack

import (
	"context"
	"fmt"
	goruntime "runtime"
	"sort"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/synth"
	"github.com/wasmjit/wasmjit/nativemodule"
)

// available lists the modes that this machine can give.
func available(t *testing.T) []codemem.Mode {
	t.Helper()
	var modes []codemem.Mode
	for _, name := range codemem.ModeNames() {
		m, err := codemem.ParseMode(name)
		if err != nil {
			t.Fatal(err)
		}
		if codemem.Check(m) == nil {
			modes = append(modes, m)
		}
	}
	return modes
}

func compileSynthetic(t *testing.T, functions int, o nativemodule.Options) *nativemodule.Module {
	t.Helper()
	dm, err := decoder.Decode(synth.Module(synth.Options{Functions: functions}))
	if err != nil {
		t.Fatal(err)
	}
	o.Workers = 2
	o.Liftoff.Arch = arch()
	if goruntime.GOARCH != "amd64" {
		o.Live = false // there are slots for amd64 only
	}
	m, err := nativemodule.Compile(context.Background(), dm, o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = m.Close() })
	return m
}

// In modes seal and dual no page of the process is writable and executable at
// once, neither while a module is compiled nor after, nor while functions of a
// live one are replaced: then only the jump table may be, in a scope. Mode off
// shows that the search finds what there is.
func TestNothingWritableAndExecutable(t *testing.T) {
	for _, c := range []struct {
		mode codemem.Mode
		bad  bool
	}{{codemem.Seal, false}, {codemem.Dual, false}, {codemem.Off, true}} {
		if codemem.Check(c.mode) != nil {
			continue
		}
		var stop atomic.Bool
		var watcher sync.WaitGroup
		found, looks := make(map[string]bool), 0
		look := func() {
			all, err := Maps()
			if err != nil {
				t.Error(err)
			}
			for _, bad := range WritableAndExecutable(all) {
				found[bad] = true
			}
			looks++
		}
		watcher.Go(func() {
			for !stop.Load() {
				look()
			}
		})
		m := compileSynthetic(t, 3000, nativemodule.Options{Protection: c.mode})
		stop.Store(true)
		watcher.Wait()
		look()
		if looks < 3 {
			t.Errorf("%s: looked only %d times", c.mode, looks)
		}
		if (len(found) > 0) != c.bad {
			t.Errorf("%s: writable and executable: %v", c.mode, found)
		}
		if err := m.Close(); err != nil {
			t.Error(err)
		}
	}
}

// What no function owns in an executable page is trap instructions, in every
// mode.
func TestUnownedBytesTrap(t *testing.T) {
	for _, mode := range available(t) {
		if !mode.Linkable() && goruntime.GOARCH != "amd64" {
			continue
		}
		m := compileSynthetic(t, 300, nativemodule.Options{Protection: mode})
		dm := m.Decoded()
		type piece struct{ lo, hi uintptr }
		var owned []piece
		lo, hi := ^uintptr(0), uintptr(0)
		for def := range dm.Bodies {
			fn := dm.NumImportedFuncs + uint32(def)
			at := m.Address(fn)
			owned = append(owned, piece{at, at + uintptr(m.Size(fn))})
			if e := m.Entry(fn); e != at {
				owned = append(owned, piece{e, e + codemem.SlotSize})
				lo, hi = min(lo, e), max(hi, e+codemem.SlotSize)
			}
			lo, hi = min(lo, at), max(hi, at+uintptr(m.Size(fn)))
		}
		sort.Slice(owned, func(i, j int) bool { return owned[i].lo < owned[j].lo })
		// The pages that these lie on belong to the module as a whole.
		lo, hi = lo&^(pageSize-1), (hi+pageSize-1)&^(pageSize-1)
		owned = append(owned, piece{hi, hi})
		at, gaps := lo, 0
		for _, p := range owned {
			for ; at < p.lo; at++ {
				gaps++
				if b := *(*byte)(pointer(at)); b != codemem.TrapByte {
					t.Fatalf("%s: byte %#x at %#x belongs to no function", mode, b, at)
				}
			}
			at = max(at, p.hi)
		}
		if gaps == 0 {
			t.Errorf("%s: nothing was looked at", mode)
		}
	}
}

// The arena lies elsewhere in each process.
func TestArenaMoves(t *testing.T) {
	seen := make(map[string]bool)
	const runs = 4
	for range runs {
		out, err := command("where").Output()
		if err != nil {
			t.Fatal(err)
		}
		seen[strings.TrimSpace(string(out))] = true
	}
	if len(seen) != runs {
		t.Errorf("the arena was at %v in %d runs", seen, runs)
	}
}

// whereIs is the child's side.
func whereIs() error {
	a, err := codemem.Default()
	if err != nil {
		return err
	}
	lo, _ := a.Bounds()
	fmt.Printf("%#x\n", lo)
	return nil
}

// A program that is executed while a module is compiled in mode dual gets
// neither the memfd nor a view of it; a forked child has no view.
func TestNothingLeaks(t *testing.T) {
	if err := codemem.Check(codemem.Dual); err != nil {
		t.Skip(err)
	}
	check := func(when string, wantOpen bool) {
		v, err := views()
		if err != nil {
			t.Fatal(err)
		}
		fds, _ := memfds()
		if len(v) == 0 || (len(fds) > 0) != wantOpen {
			t.Errorf("%s: %d views, descriptors %v: the test looks at nothing", when, len(v), fds)
		}
		for _, m := range v {
			if mappedInFork(t, m.Lo) {
				t.Errorf("%s: a forked child has %x-%x %s", when, m.Lo, m.Hi, m.Perms)
			}
		}
		out, err := command("inherited").CombinedOutput()
		if err != nil || string(out) != "nothing\n" {
			t.Errorf("%s: an executed program has %v, %s", when, err, out)
		}
	}
	compileSynthetic(t, 300, nativemodule.Options{Protection: codemem.Dual, Live: true, PhaseDone: func(phase string) {
		if phase == "compile" {
			check("while compiling", true)
		}
	}})
	check("after publishing", false)
	var page [1]byte
	if !mappedInFork(t, codeAddress(&page[0])) {
		t.Error("a forked child lacks ordinary memory: the question is wrong")
	}
}

// inherited is the child's side: it has made no code memory itself.
func inherited() error {
	v, err := views()
	if err != nil {
		return err
	}
	fds, _ := memfds()
	if len(v) > 0 || len(fds) > 0 {
		fmt.Println(v, fds)
		return nil
	}
	fmt.Println("nothing")
	return nil
}

// mappedInFork reports whether a forked child has a mapping at addr. The child
// does nothing but ask and end: Go can't run in it.
func mappedInFork(t *testing.T, addr uintptr) bool {
	t.Helper()
	pid := forkAndAsk(addr &^ (pageSize - 1))
	if pid <= 0 {
		t.Fatalf("fork: %v", unix.Errno(-pid))
	}
	var status unix.WaitStatus
	for {
		_, err := unix.Wait4(pid, &status, 0, nil)
		if err == unix.EINTR {
			continue
		}
		if err != nil || !status.Exited() {
			t.Fatalf("forked child: %v, %#x", err, status)
		}
		return status.ExitStatus() == childMapped
	}
}

// A stray write changes no code in the modes that are chosen unasked.
func TestDefaultsAreProtected(t *testing.T) {
	for _, patched := range []bool{false, true} {
		m, err := codemem.Resolve(codemem.Auto, patched)
		if err != nil {
			t.Skip(err)
		}
		o, err := Run(Find("store"), Setup{Mode: m}, command)
		if err != nil || o.Changed || o.Skipped != "" {
			t.Errorf("patched %v: mode %s: %v, %v", patched, m, o, err)
		}
	}
}
