// Package syscount counts system calls of the running process in the kernel,
// by all its threads, whoever issued them: wasmjit's own, the Go runtime's and
// the scheduler's.
//
// The counts are exact or absent; nothing is sampled or estimated. Two ways
// lead to them.
//
//   - [Perf]: the tracepoint raw_syscalls:sys_enter with a filter for each
//     kind of call, or else syscalls:sys_enter_*, opened by perf_event_open
//     for every thread there is and inherited by the threads to come. It needs
//     the numbers of the tracepoints (tracefs, which mostly only root may
//     read, or the variable [TracepointEnv]) and a kernel that lets the user
//     count (kernel.perf_event_paranoid at most 2).
//   - [Seccomp]: a filter turns each of the calls into a SIGSYS, whose handler
//     counts the call and issues it again. It needs no rights at all, but
//     linux/amd64, and can't be undone: it belongs into a process that exists
//     for nothing else.
//
// What counting costs, as BenchmarkCost measured it on a busy virtual machine
// (AMD EPYC, 2 processors, Linux 6.18; minima of seven runs):
//
//	           counted call   other call   open     read         at the end
//	perf       +0.5 µs        +0.05 µs     1 ms     0.5 µs per   40 ms, unless
//	                          per kind              thread and   another process
//	                                                kind         counts, too
//	seccomp    +4 µs          < 0.1 µs     3 ms     40 ns        -
package syscount
