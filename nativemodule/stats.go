package nativemodule

import (
	"runtime/metrics"
	"time"

	"github.com/wasmjit/wasmjit/codemem"
)

// Phase is what one phase cost.
type Phase struct {
	Wall time.Duration
	// CPU is the processor time of the whole process during the phase, all
	// threads, the Go collector's and other goroutines' included; 0 where the
	// system doesn't tell.
	CPU time.Duration
	// Memory counts the system calls on this module's code memory.
	Memory codemem.Counters
	// Locks are the trips to the module's locks.
	Locks []codemem.LockStats
}

// Stats describe a compile. Phases are cut by the clock: they don't overlap and
// add up to all of it.
type Stats struct {
	// Compile includes ordering the functions and mapping the memory, Publish
	// sealing it.
	Compile, Link, Publish Phase
	// Publishing is what was published during the phase Compile.
	Publishing Overlap

	Workers   int
	Functions int   // defined functions
	BodyBytes int64 // of function bodies
	CodeBytes int64 // of functions, without padding
	// PaddingBytes is what belongs to no function in the code's pages: what
	// alignment adds, ends of chunks, the end of the last page.
	PaddingBytes int64
	CallSites    int64 // direct calls that were linked
	Chunks       int64
	Spans        int // contiguous ranges; 1 unless the size guess was too low
	// GCCycles is how many cycles of the Go collector ended meanwhile.
	GCCycles uint64
	// Batches are those added to code memory, Publications those published:
	// fewer, where workers met. Both 0 for linked code.
	Batches, Publications int64
	// Exposure is for how long code was writable, until the end of the
	// compile.
	Exposure codemem.Exposure
	// Locks are the figures of the module's locks.
	Locks []codemem.LockStats
	// Ledger sets the mprotects on code beside those predicted.
	Ledger Ledger
	// Accounts are the write scopes' accounts by opener.
	Accounts []codemem.Account
}

// clock splits the run of a compile into phases.
type clock struct {
	wall *time.Time
	cpu  *time.Duration
	mem  *codemem.Counters
	lock *[]codemem.LockStats
}

func startClock() clock {
	now, cpu := time.Now(), processCPU()
	return clock{&now, &cpu, &codemem.Counters{}, new([]codemem.LockStats)}
}

// phase ends a phase of m's compile and starts the next.
func (c clock) phase(m *Module) Phase {
	now, cpu, mem, lock := time.Now(), processCPU(), m.space.Counters(), m.lockStats()
	p := Phase{Wall: now.Sub(*c.wall), CPU: cpu - *c.cpu, Memory: mem.Sub(*c.mem), Locks: locksSince(lock, *c.lock)}
	*c.wall, *c.cpu, *c.mem, *c.lock = now, cpu, mem, lock
	return p
}

// gcCycles is the number of finished cycles of the collector. Unlike
// ReadMemStats this doesn't stop the world.
func gcCycles() uint64 {
	s := []metrics.Sample{{Name: "/gc/cycles/total:gc-cycles"}}
	metrics.Read(s)
	if s[0].Value.Kind() != metrics.KindUint64 {
		return 0
	}
	return s[0].Value.Uint64()
}
