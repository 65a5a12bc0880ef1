package runtime

import (
	"errors"
	"os"
	"runtime/debug"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/decoder"
	"github.com/wasmjit/wasmjit/internal/wasmtest"
	"github.com/wasmjit/wasmjit/liftoff"
	"github.com/wasmjit/wasmjit/nativemodule"
)

// lockable makes a module with a bit of everything that an instance block
// holds: an imported function and global, both kinds of own globals, a memory
// and a table.
func lockable() *wasmtest.Module {
	m := wasmtest.New()
	ii := m.Type(types(decoder.I32), types(decoder.I32))
	host := m.ImportFunc("env", "host", ii)
	m.ImportGlobal("env", "g", decoder.I32, true)
	m.Export("m", decoder.ExternMemory, m.Memory(1, 4))
	m.Export("t", decoder.ExternTable, m.Table(decoder.FuncRef, 2, 2)) // never written
	written := m.Table(decoder.FuncRef, 2, 2)
	count := m.Global(decoder.I32, 100) // mutable
	twice := m.Func("twice", ii, nil, code(func(c *wasmtest.Code) { c.Get(0).Get(0).Op(0x6a) }))
	m.Elem(0, 0, twice, host)
	// indirect(i) calls entry i of the table with the mutable global, which
	// it raises, and adds the imported one.
	m.Func("indirect", ii, nil, code(func(c *wasmtest.Code) {
		c.OpU(0x23, count).I32(1).Op(0x6a).OpU(0x24, count)
		c.OpU(0x23, count).Get(0).OpU(0x11, ii, 0)
		c.OpU(0x23, 0).Op(0x6a)
	}))
	m.Func("grow", ii, nil, code(func(c *wasmtest.Code) { c.Get(0).OpU(0x40, 0) }))
	m.Func("keep", ii, nil, code(func(c *wasmtest.Code) { c.Get(0).Get(0).OpU(0x25, 0).OpU(0x26, written).Get(0) }))
	m.Func("load", ii, nil, code(func(c *wasmtest.Code) { c.Get(0).Load(0x28, 0) }))
	return m
}

// lockedInstance instantiates it in a locked store.
func lockedInstance(t *testing.T, s *Store) *Instance {
	t.Helper()
	d, err := decoder.Decode(lockable().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	m, err := nativemodule.Compile(bg, d, nativemodule.Options{Workers: 1, Liftoff: liftoff.Options{Bounds: s.Bounds(), SplitInstance: true}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return lockedInstanceOf(t, s, m)
}

func lockedInstanceOf(t *testing.T, s *Store, m *nativemodule.Module) *Instance {
	t.Helper()
	host, err := s.WrapFunc(func(x int32) int32 { return x + 1000 })
	if err != nil {
		t.Fatal(err)
	}
	g := s.NewGlobal(decoder.GlobalType{Type: decoder.I32, Mutable: true}, 50_000)
	i, err := s.Instantiate(bg, m, Imports{"env": {"host": host, "g": g}})
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// worksLocked calls everything that could notice the lock.
func worksLocked(t *testing.T, i *Instance) {
	t.Helper()
	for _, c := range []struct {
		name      string
		arg, want uint64
	}{
		{"twice", 21, 42},
		{"indirect", 0, 50_000 + 202},
		{"indirect", 1, 50_000 + 1102},
		{"grow", 1, 1},
		{"keep", 1, 1},
		{"load", 2*PageSize - 4, 0},
	} {
		r, err := i.Call(bg, c.name, c.arg)
		if err != nil || r[0] != c.want {
			t.Errorf("%s(%d): %v, %v, want %d", c.name, c.arg, r, err, c.want)
		}
	}
	var trap *Trap
	if _, err := i.Call(bg, "load", 2*PageSize); !errors.As(err, &trap) || trap.Kind != TrapMemoryOutOfBounds || len(trap.Frames) != 1 || trap.Frames[0].FuncName != "load" {
		t.Errorf("a load past the end: %v", err)
	}
}

// writable reports whether Go code can write the word at addr.
func writable(addr uintptr) (ok bool) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() { ok = recover() == nil }()
	storeWord(addr, loadWord(addr))
	return
}

// What is constant in an instance and in host functions can't be written once
// the instance is there; what programs change can.
func TestLockedStore(t *testing.T) {
	s := newStore(t, Config{Locked: true})
	i := lockedInstance(t, s)
	l := i.module.Layout()
	for what, at := range map[string]uintptr{
		"memory base":       i.block + liftoff.InstMemBase,
		"handle":            i.block + liftoff.InstID,
		"memory record":     i.block + uintptr(l.Memories),
		"table record":      i.block + uintptr(l.Tables),
		"imported global":   i.block + uintptr(l.Globals[0]),
		"signature numbers": i.block + uintptr(l.SigIDs)&^7,
		"first record":      i.block + uintptr(l.Records),
		"last record":       i.block + uintptr(l.Records) + uintptr(l.NumRecords()-1)*liftoff.RecSize,
		"table entries":     i.tables[0].base,
		"table length":      i.tables[0].record + liftoff.TableRecLen,
		"host function":     i.imported[0].record,
		"host block":        i.imported[0].block,
	} {
		if writable(at) {
			t.Errorf("%s at %#x can be written", what, at)
		}
	}
	if at := i.block + uintptr(l.Globals[1]); !writable(at) {
		t.Error("a mutable global can't be written")
	}
	if !writable(i.tables[1].base) {
		t.Error("a table that the module writes can't be written")
	}
	worksLocked(t, i)
	table := i.Table("t")
	if _, ok := table.Grow(0, 0); ok || table.Set(0, 0) || table.fill(0, 0, 1) {
		t.Error("a final table takes changes")
	}
	if ref, ok := table.Get(0); !ok || s.FuncOf(ref) == nil {
		t.Error("a final table can't be read")
	}

	// Functions made after the lock work in later instances, and are locked
	// with them.
	j := lockedInstanceOf(t, s, i.module)
	worksLocked(t, j)
	if writable(j.imported[0].record) {
		t.Error("a later host function can be written")
	}
	i.Close()
	worksLocked(t, lockedInstanceOf(t, s, j.module))
}

func TestLockedStoreNeedsSplit(t *testing.T) {
	s := newStore(t, Config{Locked: true})
	d, err := decoder.Decode(lockable().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	host, err := s.WrapFunc(func(x int32) int32 { return x })
	if err != nil {
		t.Fatal(err)
	}
	g := s.NewGlobal(decoder.GlobalType{Type: decoder.I32, Mutable: true}, 0)
	_, err = s.Instantiate(bg, compile(t, s, d), Imports{"env": {"host": host, "g": g}})
	if !errors.Is(err, errNotSplit) {
		t.Errorf("error %v", err)
	}
}

// In a locked process code runs, grows memory and traps as ever, in both modes
// that it may be published in; nothing can be compiled any more, and closing
// is harmless.
func TestLockProcess(t *testing.T) {
	mode := os.Getenv("WASMJIT_TEST_CHILD")
	if mode == "" {
		for _, mode := range []string{"seal", "dual"} {
			if out := runChild(t, mode); strings.Contains(out, "--- SKIP") {
				t.Logf("%s: %s", mode, out)
			}
		}
		return
	}
	protection, err := codemem.ParseMode(mode)
	if err != nil {
		t.Fatal(err)
	}
	if err := codemem.Check(protection); err != nil {
		t.Skip(err)
	}
	s := newStore(t, Config{Locked: true})
	d, err := decoder.Decode(lockable().Bytes())
	if err != nil {
		t.Fatal(err)
	}
	o := nativemodule.Options{Workers: 1, Protection: protection, Liftoff: liftoff.Options{Bounds: s.Bounds(), SplitInstance: true}}
	m, err := nativemodule.Compile(bg, d, o)
	if err != nil {
		t.Fatal(err)
	}
	if err := LockProcess(); err != nil {
		if errors.Is(err, unix.EINVAL) {
			t.Skip(err) // a kernel without PR_SET_MDWE
		}
		t.Fatal(err)
	}
	i := lockedInstanceOf(t, s, m)
	worksLocked(t, i)
	if n, err := unix.PrctlRetInt(unix.PR_GET_DUMPABLE, 0, 0, 0, 0); err != nil || n != 0 {
		t.Errorf("dumpable: %d, %v", n, err)
	}
	// Where there is no mseal, only PR_SET_MDWE refuses this, and not to dual.
	if _, err := nativemodule.Compile(bg, d, o); err == nil && protection == codemem.Seal {
		t.Error("another module was compiled")
	} else if err != nil && strings.Contains(err.Error(), "\n") {
		t.Errorf("error %q", err)
	}
	i.Close()
	if err := m.Close(); err != nil {
		t.Errorf("closing the module: %v", err)
	}
}

// A final table can be imported to be called through, not to be changed, be it
// by code or by a segment.
func TestFinalTableImported(t *testing.T) {
	s := newStore(t, Config{Locked: true})
	i := lockedInstance(t, s)
	for name, c := range map[string]struct {
		build func(m *wasmtest.Module, ii, table uint32)
		ok    bool
	}{
		"read": {func(m *wasmtest.Module, ii, table uint32) {
			m.Func("f", ii, nil, code(func(c *wasmtest.Code) { c.Get(0).I32(0).OpU(0x11, ii, table) }))
		}, true},
		"code": {func(m *wasmtest.Module, ii, table uint32) {
			m.Func("f", ii, nil, code(func(c *wasmtest.Code) { c.I32(0).Op(0xd0, 0x70).OpU(0x26, table).Get(0) }))
		}, false},
		"segment": {func(m *wasmtest.Module, ii, table uint32) {
			m.Elem(table, 0, m.Func("f", ii, nil, code(func(c *wasmtest.Code) { c.Get(0) })))
		}, false},
	} {
		m := wasmtest.New()
		ii := m.Type(types(decoder.I32), types(decoder.I32))
		table := m.ImportTable("env", "t", decoder.FuncRef, 1)
		c.build(m, ii, table)
		d, err := decoder.Decode(m.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		code, err := nativemodule.Compile(bg, d, nativemodule.Options{Workers: 1, Liftoff: liftoff.Options{Bounds: s.Bounds(), SplitInstance: true}})
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = code.Close() }()
		j, err := s.Instantiate(bg, code, Imports{"env": {"t": i.Table("t")}})
		var link *LinkError
		if !c.ok {
			if !errors.As(err, &link) || !strings.Contains(err.Error(), "final in this locked store") {
				t.Errorf("%s: %v", name, err)
			}
			continue
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if r, err := j.Call(bg, "f", 21); err != nil || r[0] != 42 {
			t.Errorf("%s: %v, %v", name, r, err)
		}
	}
}
