//go:build linux

package wasi

import (
	"context"
	"errors"

	"github.com/wasmjit/wasmjit/decoder"
)

// The import modules that the functions are found under.
const (
	modulePreview1 = "wasi_snapshot_preview1"
	moduleUnstable = "wasi_unstable"
)

// implementation is one function: parameters come as 64-bit cells, of which
// an i32 uses the low half. Nil is success, an errno (or a host's error) is
// what the guest is told, and an *ExitError or the context's error ends it.
type implementation func(w *System, ctx context.Context, m memory, a []uint64) error

// function is a row of the table of all functions.
type function struct {
	name   string
	params string // one letter each: i is i32, I is i64
	run    implementation
	// unstable is the function's form in wasi_unstable where its layouts
	// differ; where it is nil the same one serves both.
	unstable implementation
}

// functions are the 46 of preview 1. All but proc_exit return an errno.
// sock_accept is the one that wasi_unstable didn't have.
var functions = [...]function{
	{"args_get", "ii", (*System).argsGet, nil},
	{"args_sizes_get", "ii", (*System).argsSizesGet, nil},
	{"environ_get", "ii", (*System).environGet, nil},
	{"environ_sizes_get", "ii", (*System).environSizesGet, nil},
	{"clock_res_get", "ii", (*System).clockResGet, nil},
	{"clock_time_get", "iIi", (*System).clockTimeGet, nil},
	{"fd_advise", "iIIi", (*System).fdAdvise, nil},
	{"fd_allocate", "iII", (*System).fdAllocate, nil},
	{"fd_close", "i", (*System).fdClose, nil},
	{"fd_datasync", "i", (*System).fdDatasync, nil},
	{"fd_fdstat_get", "ii", (*System).fdFdstatGet, nil},
	{"fd_fdstat_set_flags", "ii", (*System).fdFdstatSetFlags, nil},
	{"fd_fdstat_set_rights", "iII", (*System).fdFdstatSetRights, nil},
	{"fd_filestat_get", "ii", (*System).fdFilestatGet, (*System).fdFilestatGetUnstable},
	{"fd_filestat_set_size", "iI", (*System).fdFilestatSetSize, nil},
	{"fd_filestat_set_times", "iIIi", (*System).fdFilestatSetTimes, nil},
	{"fd_pread", "iiiIi", (*System).fdPread, nil},
	{"fd_prestat_get", "ii", (*System).fdPrestatGet, nil},
	{"fd_prestat_dir_name", "iii", (*System).fdPrestatDirName, nil},
	{"fd_pwrite", "iiiIi", (*System).fdPwrite, nil},
	{"fd_read", "iiii", (*System).fdRead, nil},
	{"fd_readdir", "iiiIi", (*System).fdReaddir, nil},
	{"fd_renumber", "ii", (*System).fdRenumber, nil},
	{"fd_seek", "iIii", (*System).fdSeek, (*System).fdSeekUnstable},
	{"fd_sync", "i", (*System).fdSync, nil},
	{"fd_tell", "ii", (*System).fdTell, nil},
	{"fd_write", "iiii", (*System).fdWrite, nil},
	{"path_create_directory", "iii", (*System).pathCreateDirectory, nil},
	{"path_filestat_get", "iiiii", (*System).pathFilestatGet, (*System).pathFilestatGetUnstable},
	{"path_filestat_set_times", "iiiiIIi", (*System).pathFilestatSetTimes, nil},
	{"path_link", "iiiiiii", (*System).pathLink, nil},
	{"path_open", "iiiiiIIii", (*System).pathOpen, nil},
	{"path_readlink", "iiiiii", (*System).pathReadlink, nil},
	{"path_remove_directory", "iii", (*System).pathRemoveDirectory, nil},
	{"path_rename", "iiiiii", (*System).pathRename, nil},
	{"path_symlink", "iiiii", (*System).pathSymlink, nil},
	{"path_unlink_file", "iii", (*System).pathUnlinkFile, nil},
	{"poll_oneoff", "iiii", (*System).pollOneoff, (*System).pollOneoffUnstable},
	{"proc_exit", "i", (*System).procExit, nil},
	{"proc_raise", "i", (*System).procRaise, nil},
	{"sched_yield", "", (*System).schedYield, nil},
	{"random_get", "ii", (*System).randomGet, nil},
	{"sock_accept", "iii", (*System).sockAccept, nil},
	{"sock_recv", "iiiiii", (*System).sockRecv, nil},
	{"sock_send", "iiiii", (*System).sockSend, nil},
	{"sock_shutdown", "ii", (*System).sockShutdown, nil},
}

// signature is the function's type in WebAssembly.
func (f *function) signature() decoder.FuncType {
	t := decoder.FuncType{Params: make([]decoder.Type, len(f.params))}
	for i := range f.params {
		t.Params[i] = decoder.I32
		if f.params[i] == 'I' {
			t.Params[i] = decoder.I64
		}
	}
	if f.returns() {
		t.Results = []decoder.Type{decoder.I32}
	}
	return t
}

func (f *function) returns() bool { return f.name != "proc_exit" }

// call runs an implementation on a stack of cells: the parameters, and after
// it the result. An error ends the guest.
func (w *System) call(ctx context.Context, run implementation, mem []byte, stack []uint64) error {
	err := run(w, ctx, mem, stack)
	if err == nil {
		stack[0] = uint64(errnoSuccess)
		return nil
	}
	if e, ok := err.(errno); ok {
		stack[0] = uint64(e)
		return nil
	}
	var exit *ExitError
	if errors.As(err, &exit) {
		return err
	}
	if cerr := ctx.Err(); cerr != nil && errors.Is(err, cerr) {
		return err
	}
	stack[0] = uint64(toErrno(err))
	return nil
}
