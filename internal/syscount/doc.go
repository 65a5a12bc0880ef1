// Package syscount counts system calls of the running process in the kernel,
// by all its threads, whoever issued them: wasmjit's own, the Go runtime's and
// the scheduler's.
//
// The counts are exact or absent; nothing is sampled or estimated. Two ways
// lead to them.
//
//   - [Perf]: the tracepoints syscalls:sys_enter_*, opened by perf_event_open
//     for every thread there is and inherited by the threads to come. It needs
//     the numbers of the tracepoints (tracefs, which mostly only root may
//     read, or the variable [TracepointEnv]) and a kernel that lets the user
//     count (kernel.perf_event_paranoid at most 2).
//   - [Seccomp]: a filter turns each of the calls into a SIGSYS, whose handler
//     counts the call and issues it again. It needs no rights at all, but
//     linux/amd64, and can't be undone: it belongs into a process that exists
//     for nothing else.
//
// What counting costs, measured with BenchmarkCost of this package on a
// virtual machine (AMD EPYC, Linux 6.18): see the Cost section of the
// benchmark's comment. Under perf a counted call takes 0.2-0.3 µs longer and
// any other call 50 ns; under seccomp a counted call takes 3 µs longer and any
// other 60 ns.
package syscount
