//go:build amd64 || arm64

package attack

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/unix"

	"github.com/wasmjit/wasmjit/codemem"
	"github.com/wasmjit/wasmjit/liftoff"
)

// only restricts an attack to some modes.
func only(why string, modes ...codemem.Mode) func(codemem.Mode) string {
	return func(m codemem.Mode) string {
		for _, o := range modes {
			if o == m {
				return ""
			}
		}
		return why
	}
}

var aliasOnly = only("the mode maps code once", codemem.Dual)

// attacks: the table. ORDER: as they are printed, stray writes first.
var attacks = []Attack{
	{Name: "store", What: "a store to published code", run: store},
	{Name: "store-thread", What: "a store by another thread while one holds a write scope", scoped: true, run: storeOtherThread},
	{Name: "store-newborn", What: "a store by a thread born while a write scope was open", scoped: true, run: storeNewThread},
	{Name: "store-signal", What: "a store by a signal handler while its thread holds a write scope", scoped: true, run: storeInSignal},
	{Name: "old-view", What: "a store through the view that the code was written by", needs: aliasOnly, during: findView, run: storeOldView},
	{Name: "memfd-write", What: "pwrite to the memfd while code is compiled", needs: aliasOnly, during: pwriteMemfd, run: duringOnly},
	{Name: "memfd-map", What: "a new writable mapping of the memfd while code is compiled", needs: aliasOnly, during: mapMemfd, run: duringOnly},
	{Name: "file-write", What: "the published code's file opened again and written", needs: aliasOnly, run: reopenWrite},
	{Name: "file-map", What: "the published code's file opened again and mapped writable", needs: aliasOnly, run: reopenMap},
	{Name: "slot", What: "a store to a slot of the jump table", needs: only("code without a jump table", codemem.Off, codemem.Fine, codemem.Hoisted, codemem.Dual, codemem.PKU), run: storeSlot},
	{Name: "record", What: "a store to the function record that calls through references use", run: storeRecord},
	{Name: "table", What: "a store to the entries of a table that the module never changes", run: storeTable},
	{Name: "memory-base", What: "a store to the address that the guest's memory accesses start from", run: storeMemoryBase},
	{Name: "mprotect", What: "mprotect of published code to writable", run: reprotect},
	{Name: "mmap", What: "other code mapped over published code", run: replace},
	{Name: "munmap", What: "published code unmapped", run: unmapCode},
	{Name: "discard", What: "published code discarded by madvise", run: discard},
	{Name: "process-vm", What: "process_vm_writev to published code", run: processWrite},
	{Name: "proc-mem", What: "pwrite to /proc/self/mem", run: procMem},
	{Name: "new-code", What: "new executable memory with the attacker's code", run: newCode},
}

func store(t *target) error {
	overwrite(t.addr)
	return nil
}

// storeOtherThread stores from a thread of its own while this one waits.
func storeOtherThread(t *target) error {
	done := make(chan struct{})
	go func() {
		defer close(done)
		goruntime.LockOSThread()
		overwrite(t.addr)
	}()
	<-done
	return nil
}

// storeNewThread makes threads until one is there that wasn't before the
// scope was opened; it stores.
func storeNewThread(t *target) error {
	old, err := threads()
	if err != nil {
		return err
	}
	type answer struct{ fresh bool }
	answers, hold := make(chan answer), make(chan struct{})
	defer close(hold)
	// Every goroutine keeps its thread, so each needs another.
	for range len(old) + 2 {
		go func() {
			goruntime.LockOSThread()
			fresh := !old[unix.Gettid()]
			if fresh {
				overwrite(t.addr)
			}
			answers <- answer{fresh}
			<-hold
		}()
		if a := <-answers; a.fresh {
			return nil
		}
	}
	return &unfitError{"no new thread came to be"}
}

func threads() (map[int]bool, error) {
	entries, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return nil, &unfitError{"threads can't be listed: " + err.Error()}
	}
	ids := make(map[int]bool)
	for _, e := range entries {
		var id int
		if _, err := fmt.Sscan(e.Name(), &id); err == nil {
			ids[id] = true
		}
	}
	return ids, nil
}

// signalTarget is where the assembly handler stores, signalHits how often it
// came past its store.
var (
	signalTarget uintptr
	signalHits   uint32
)

// signalHandler gives the address of the assembly handler.
func signalHandler() uintptr

// sigaction is the kernel's.
type sigaction struct {
	handler, flags, restorer uintptr
	mask                     uint64
}

func rtSigaction(s unix.Signal, set, get *sigaction) error {
	if _, _, e := unix.RawSyscall6(unix.SYS_RT_SIGACTION, uintptr(s), uintptr(unsafe.Pointer(set)), uintptr(unsafe.Pointer(get)), 8, 0, 0); e != 0 {
		return e
	}
	return nil
}

// storeInSignal stores from a handler of the kernel's making, not from one of
// Go's goroutines for signals.
func storeInSignal(t *target) error {
	var act sigaction
	if err := rtSigaction(unix.SIGUSR2, nil, &act); err != nil {
		return err
	}
	act.handler = signalHandler()
	signalTarget = t.addr
	if err := rtSigaction(unix.SIGUSR2, &act, nil); err != nil {
		return err
	}
	if err := unix.Tgkill(os.Getpid(), unix.Gettid(), unix.SIGUSR2); err != nil {
		return err
	}
	if signalHits == 0 {
		return fmt.Errorf("the handler that stores at %#x didn't return", signalTarget)
	}
	return nil
}

// memfdName is what mappings and descriptors of code are called.
const memfdName = "/memfd:wasmjit-code"

// views are the mappings of code files now.
func views() ([]Mapping, error) {
	all, err := Maps()
	if err != nil {
		return nil, &unfitError{err.Error()}
	}
	var v []Mapping
	for _, m := range all {
		if strings.HasPrefix(m.Name, memfdName) {
			v = append(v, m)
		}
	}
	return v, nil
}

// oldViews are the writable ones from before the publication.
var oldViews []Mapping

func findView(*target) error {
	all, err := views()
	for _, m := range all {
		if m.Writable() {
			oldViews = append(oldViews, m)
		}
	}
	return err
}

// storeOldView writes all over the views that the code had.
func storeOldView(t *target) error {
	if t.watched != nil {
		return t.watched
	}
	if len(oldViews) == 0 {
		return &unfitError{"no writable view was found while compiling"}
	}
	for _, m := range oldViews {
		for at := m.Lo; at < m.Hi; at += 16 {
			overwrite(at)
		}
	}
	return nil
}

func duringOnly(t *target) error {
	if t.watched == nil {
		return errors.New("nothing was tried")
	}
	return t.watched
}

// memfds are the descriptors of code files.
func memfds() ([]int, error) {
	entries, err := os.ReadDir("/proc/self/fd")
	if err != nil {
		return nil, &unfitError{err.Error()}
	}
	var fds []int
	for _, e := range entries {
		var fd int
		link, err := os.Readlink(filepath.Join("/proc/self/fd", e.Name()))
		if err != nil || !strings.HasPrefix(link, memfdName) {
			continue
		}
		if _, err := fmt.Sscan(e.Name(), &fd); err == nil {
			fds = append(fds, fd)
		}
	}
	if len(fds) == 0 {
		return nil, &unfitError{"no memfd is open while compiling"}
	}
	return fds, nil
}

func pwriteMemfd(*target) error {
	fds, err := memfds()
	if err != nil {
		return err
	}
	for _, fd := range fds {
		if _, err := unix.Pwrite(fd, payload, 0); err != nil {
			return fmt.Errorf("pwrite: %w", err)
		}
	}
	return &doneError{"pwrite to the memfd"}
}

func mapMemfd(*target) error {
	fds, err := memfds()
	if err != nil {
		return err
	}
	for _, fd := range fds {
		if _, err := unix.Mmap(fd, 0, int(pageSize), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED); err != nil {
			return fmt.Errorf("mmap: %w", err)
		}
	}
	return &doneError{"the memfd has a second writable mapping"}
}

// reopen opens the file behind the code's mapping, for writing.
func reopen(t *target) (fd int, offset int64, err error) {
	all, err := views()
	if err != nil {
		return 0, 0, err
	}
	for _, m := range all {
		if m.Lo <= t.addr && t.addr < m.Hi {
			fd, err = unix.Open(fmt.Sprintf("/proc/self/map_files/%x-%x", m.Lo, m.Hi), unix.O_RDWR|unix.O_CLOEXEC, 0)
			if err != nil {
				return 0, 0, fmt.Errorf("open: %w", err)
			}
			return fd, int64(m.Offset) + int64(t.addr-m.Lo), nil
		}
	}
	return 0, 0, &unfitError{"the code is no mapping of a file"}
}

func reopenWrite(t *target) error {
	fd, offset, err := reopen(t)
	if err != nil {
		return err
	}
	if _, err := unix.Pwrite(fd, payload, offset); err != nil {
		return fmt.Errorf("pwrite: %w", err)
	}
	return nil
}

func reopenMap(t *target) error {
	fd, offset, err := reopen(t)
	if err != nil {
		return err
	}
	start := offset &^ int64(pageSize-1)
	b, err := unix.Mmap(fd, start, int(pageSize), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return fmt.Errorf("mmap: %w", err)
	}
	copy(b[offset-start:], payload)
	return nil
}

func storeSlot(t *target) error {
	slot := t.code.Entry(fnSeven)
	if slot == t.addr {
		return &unfitError{"the code was linked and has no jump table"}
	}
	overwrite(slot)
	return nil
}

// record is the function record of the victim's function in the table.
func (t *target) record() (uintptr, error) {
	ref := t.store.FuncRef(t.inst.Func("seven"))
	if ref == 0 {
		return 0, &unfitError{"the function has no record"}
	}
	return uintptr(ref), nil
}

// block is the victim's instance block.
func (t *target) block() (uintptr, error) {
	rec, err := t.record()
	if err != nil {
		return 0, err
	}
	return uintptr(word(rec + liftoff.RecInst)), nil
}

func word(addr uintptr) uint64 { return *(*uint64)(pointer(addr)) }

// change makes a word another.
func change(addr uintptr, done string) error {
	was := word(addr)
	*(*uint64)(pointer(addr)) = was + 1
	if word(addr) == was {
		return errors.New("without effect")
	}
	return &doneError{done}
}

// storeRecord makes the record of a function name other code.
func storeRecord(t *target) error {
	rec, err := t.record()
	if err != nil {
		return err
	}
	return change(rec+liftoff.RecEntry, "the record names other code")
}

func storeTable(t *target) error {
	block, err := t.block()
	if err != nil {
		return err
	}
	record := uintptr(word(block + uintptr(t.code.Layout().Tables)))
	return change(uintptr(word(record+liftoff.TableRecBase)), "the table names another record")
}

func storeMemoryBase(t *target) error {
	block, err := t.block()
	if err != nil {
		return err
	}
	return change(block+liftoff.InstMemBase, "the guest's memory is elsewhere")
}

func reprotect(t *target) error {
	if err := unix.Mprotect(bytesAt(t.page(), pageSize), unix.PROT_READ|unix.PROT_WRITE|unix.PROT_EXEC); err != nil {
		// Where both at once are forbidden, one after the other may do.
		if err := unix.Mprotect(bytesAt(t.page(), pageSize), unix.PROT_READ|unix.PROT_WRITE); err != nil {
			return fmt.Errorf("mprotect: %w", err)
		}
	}
	overwrite(t.addr)
	if err := unix.Mprotect(bytesAt(t.page(), pageSize), unix.PROT_READ|unix.PROT_EXEC); err != nil {
		return fmt.Errorf("mprotect back: %w", err)
	}
	return nil
}

func replace(t *target) error {
	code := make([]byte, pageSize)
	copy(code, bytesAt(t.page(), pageSize))
	copy(code[t.addr-t.page():], payload)
	if _, err := unix.MmapPtr(-1, 0, pointer(t.page()), pageSize, unix.PROT_READ|unix.PROT_WRITE,
		unix.MAP_PRIVATE|unix.MAP_ANON|unix.MAP_FIXED); err != nil {
		return fmt.Errorf("mmap: %w", err)
	}
	copy(bytesAt(t.page(), pageSize), code)
	if err := unix.Mprotect(bytesAt(t.page(), pageSize), unix.PROT_READ|unix.PROT_EXEC); err != nil {
		return &doneError{"the code is gone, and its place not executable: " + err.Error()}
	}
	return nil
}

func unmapCode(t *target) error {
	if err := unix.MunmapPtr(pointer(t.page()), pageSize); err != nil {
		return fmt.Errorf("munmap: %w", err)
	}
	return &doneError{"the code is gone"}
}

func discard(t *target) error {
	if err := unix.Madvise(bytesAt(t.page(), pageSize), unix.MADV_DONTNEED); err != nil {
		return fmt.Errorf("madvise: %w", err)
	}
	if t.setup.Mode != codemem.PKU && allZero(bytesAt(t.page(), pageSize)) {
		return &doneError{"the code is gone"}
	}
	return nil
}

func allZero(b []byte) bool {
	for _, c := range b {
		if c != 0 {
			return false
		}
	}
	return true
}

func processWrite(t *target) error {
	local := []unix.Iovec{{Base: &payload[0], Len: uint64(len(payload))}}
	remote := []unix.RemoteIovec{{Base: t.addr, Len: len(payload)}}
	if _, err := unix.ProcessVMWritev(os.Getpid(), local, remote, 0); err != nil {
		return fmt.Errorf("process_vm_writev: %w", err)
	}
	return nil
}

func procMem(t *target) error {
	f, err := os.OpenFile("/proc/self/mem", os.O_RDWR, 0)
	if err != nil {
		return fmt.Errorf("open: %w", errors.Unwrap(err))
	}
	defer func() { _ = f.Close() }()
	if _, err := f.WriteAt(payload, int64(t.addr)); err != nil {
		return fmt.Errorf("pwrite: %w", errors.Unwrap(err))
	}
	return nil
}

func newCode(*target) error {
	p, err := unix.MmapPtr(-1, 0, nil, pageSize, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_PRIVATE|unix.MAP_ANON)
	if err != nil {
		return fmt.Errorf("mmap: %w", err)
	}
	b := unsafe.Slice((*byte)(p), pageSize)
	copy(b, payload)
	if err := unix.Mprotect(b, unix.PROT_READ|unix.PROT_EXEC); err != nil {
		return fmt.Errorf("mprotect: %w", err)
	}
	return &doneError{"the process has code that nobody compiled"}
}
