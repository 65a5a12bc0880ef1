package codemem

import (
	"sync/atomic"
	"time"
)

// Counter is one kind of system call: how often it was issued, over how many
// bytes of address space, and how long the calls took.
type Counter struct {
	Calls, Bytes, Ns int64
}

// Counters are the system calls that this package issued, failed ones
// included. They are counted where they are issued, so they are exact.
type Counters struct {
	Mmap    Counter
	Munmap  Counter
	Madvise Counter
	// MprotectRW counts switches to writable and not executable, MprotectRX
	// to executable and not writable, MprotectOther all others.
	MprotectRW, MprotectRX, MprotectOther Counter
}

// Sub gives the calls made since the earlier reading d.
func (c Counters) Sub(d Counters) Counters {
	return Counters{
		Mmap:          c.Mmap.sub(d.Mmap),
		Munmap:        c.Munmap.sub(d.Munmap),
		Madvise:       c.Madvise.sub(d.Madvise),
		MprotectRW:    c.MprotectRW.sub(d.MprotectRW),
		MprotectRX:    c.MprotectRX.sub(d.MprotectRX),
		MprotectOther: c.MprotectOther.sub(d.MprotectOther),
	}
}

// Mprotects is the number of mprotect calls of all kinds.
func (c Counters) Mprotects() int64 {
	return c.MprotectRW.Calls + c.MprotectRX.Calls + c.MprotectOther.Calls
}

func (c Counter) sub(d Counter) Counter {
	return Counter{c.Calls - d.Calls, c.Bytes - d.Bytes, c.Ns - d.Ns}
}

// call is a kind of system call. ORDER: ledger.read.
type call uint8

const (
	callMmap call = iota
	callMunmap
	callMadvise
	callProtectRW
	callProtectRX
	callProtectOther
	numCalls
)

// callNames are the names in a trace.
var callNames = [numCalls]string{
	callMmap:         "mmap",
	callMunmap:       "munmap",
	callMadvise:      "madvise",
	callProtectRW:    "mprotect to RW",
	callProtectRX:    "mprotect to RX",
	callProtectOther: "mprotect",
}

type tally struct{ calls, bytes, ns atomic.Int64 }

// ledger is the live form of Counters.
type ledger [numCalls]tally

// process counts the calls of all arenas and spaces.
var process ledger

// Totals gives the calls that the process has made through this package.
func Totals() Counters { return process.read() }

// count charges one call that began at start to l and to the process.
func (l *ledger) count(c call, bytes uintptr, start time.Time) {
	ns := int64(time.Since(start))
	for _, t := range [...]*tally{&l[c], &process[c]} {
		t.calls.Add(1)
		t.bytes.Add(int64(bytes))
		t.ns.Add(ns)
	}
	Trace(Span{Kind: SpanSwitch, Name: callNames[c], Start: start, Bytes: int64(bytes)})
}

func (l *ledger) read() Counters {
	at := func(c call) Counter {
		return Counter{l[c].calls.Load(), l[c].bytes.Load(), l[c].ns.Load()}
	}
	return Counters{
		Mmap:          at(callMmap),
		Munmap:        at(callMunmap),
		Madvise:       at(callMadvise),
		MprotectRW:    at(callProtectRW),
		MprotectRX:    at(callProtectRX),
		MprotectOther: at(callProtectOther),
	}
}
