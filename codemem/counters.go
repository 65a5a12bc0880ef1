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
	// MprotectView counts switches of the writable view that mode Dual has of
	// a jump table: mprotects, but not on addresses that code runs at.
	MprotectView Counter
	// PkeyMprotect counts the tagging of pages with a protection key.
	PkeyMprotect Counter
	// Memfd counts calls on the files behind mode Dual: memfd_create,
	// ftruncate, fcntl, close. Membarrier counts the barriers before replaced
	// code is freed.
	Memfd, Membarrier Counter
	// Mseal counts arenas made immutable.
	Mseal Counter
}

// rows lists the counters by kind of call.
func (c *Counters) rows() [numCalls]*Counter {
	return [numCalls]*Counter{
		callMmap:         &c.Mmap,
		callMunmap:       &c.Munmap,
		callMadvise:      &c.Madvise,
		callProtectRW:    &c.MprotectRW,
		callProtectRX:    &c.MprotectRX,
		callProtectOther: &c.MprotectOther,
		callProtectView:  &c.MprotectView,
		callPkeyProtect:  &c.PkeyMprotect,
		callMemfd:        &c.Memfd,
		callMembarrier:   &c.Membarrier,
		callMseal:        &c.Mseal,
	}
}

// Sub gives the calls made since the earlier reading d.
func (c Counters) Sub(d Counters) Counters {
	other := d.rows()
	for i, r := range c.rows() {
		*r = r.sub(*other[i])
	}
	return c
}

// Add gives the calls of both.
func (c Counters) Add(d Counters) Counters {
	other := d.rows()
	for i, r := range c.rows() {
		*r = Counter{r.Calls + other[i].Calls, r.Bytes + other[i].Bytes, r.Ns + other[i].Ns}
	}
	return c
}

// All is the sum over all kinds of calls.
func (c Counters) All() Counter {
	var sum Counter
	for _, r := range c.rows() {
		sum = Counter{sum.Calls + r.Calls, sum.Bytes + r.Bytes, sum.Ns + r.Ns}
	}
	return sum
}

// Mprotects is the number of mprotect calls of all kinds, as the kernel
// counts them.
func (c Counters) Mprotects() int64 { return c.OnCode() + c.MprotectView.Calls }

// OnCode is the number of mprotect calls on addresses that code is at.
func (c Counters) OnCode() int64 {
	return c.MprotectRW.Calls + c.MprotectRX.Calls + c.MprotectOther.Calls
}

func (c Counter) sub(d Counter) Counter {
	return Counter{c.Calls - d.Calls, c.Bytes - d.Bytes, c.Ns - d.Ns}
}

// call is a kind of system call.
type call uint8

const (
	callMmap call = iota
	callMunmap
	callMadvise
	callProtectRW
	callProtectRX
	callProtectOther
	callProtectView
	callPkeyProtect
	callMemfd
	callMembarrier
	callMseal
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
	callProtectView:  "mprotect of a view",
	callPkeyProtect:  "pkey_mprotect",
	callMemfd:        "memfd",
	callMembarrier:   "membarrier",
	callMseal:        "mseal",
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
	var c Counters
	for i, r := range c.rows() {
		*r = Counter{l[i].calls.Load(), l[i].bytes.Load(), l[i].ns.Load()}
	}
	return c
}
