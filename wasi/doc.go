// Package wasi implements WASI preview 1 (wasi_snapshot_preview1, and its
// predecessor wasi_unstable) as host functions of the runtime, on Linux.
//
// A System is one guest's view of the world: arguments, environment, clocks,
// randomness and a table of descriptors that starts with the standard streams
// and the preopened directories. Every function gets the guest's memory as a
// slice and answers with an error number; only two things end the guest with a
// Go error: proc_exit (an *ExitError) and a context that is over.
//
// # What a guest can reach
//
// A path is always resolved by the kernel below an open directory (openat2
// with RESOLVE_BENEATH and RESOLVE_NO_MAGICLINKS; see resolve.go), so neither
// "..", nor absolute paths, nor symbolic links, nor a race between a check and
// its use leads out of a preopened directory. Where openat2 is missing, walk.go
// does the same component by component. Operations on a name (rename, unlink,
// mkdir...) resolve the parent that way and pass the kernel one component that
// holds no slash.
//
// A preopen of the host's own root "/" is special in one respect: nothing lies
// above it, so ".." stays there and absolute links resolve (RESOLVE_IN_ROOT),
// as on any Unix system.
//
// Nothing on a procfs is reachable, wherever it is mounted and whatever was
// preopened: /proc/self/mem, fd, map_files and their kin are ways into the host
// process. The check is made on the descriptor that was opened, not on its path.
//
// # Blocking
//
// Reads of pipes, terminals and sockets, and poll_oneoff, wait in poll(2)
// together with an event descriptor that the end of the context signals. The
// host's descriptors are never switched to non-blocking mode, because that
// flag is shared with other processes; the guest's own FDFLAG_NONBLOCK is kept
// here.
//
// # Stated choices
//
// proc_raise answers ENOSYS: a guest has no signal handlers, and a runtime
// must not signal its host. Both CPU-time clocks give the CPU time of the host
// process since New, for the guest has one thread and Go moves it between the
// system's. Paths must be UTF-8 (EILSEQ) without NUL (EINVAL); names that a
// directory holds are passed to the guest as they are. Leaving a preopen gives
// ENOTCAPABLE, procfs EACCES, a change below a read-only preopen EROFS.
// Symbolic links with an absolute target can be made only below a preopen of
// "/". Directory cookies are the file system's own, so they stay valid while
// entries come and go.
package wasi
