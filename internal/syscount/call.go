package syscount

// Call is a kind of system call that can be counted.
type Call uint8

// ORDER: names, and numbers in calls_linux.go.
const (
	Mprotect Call = iota
	PkeyMprotect
	Mmap
	Munmap
	Madvise
	Membarrier
	Futex
	NumCalls
)

var names = [NumCalls]string{"mprotect", "pkey_mprotect", "mmap", "munmap", "madvise", "membarrier", "futex"}

// String is the name of the call as strace and the tracepoints spell it.
func (c Call) String() string { return names[c] }

// Calls lists every kind.
func Calls() []Call {
	all := make([]Call, NumCalls)
	for i := range all {
		all[i] = Call(i)
	}
	return all
}

// Counts is a number per kind of call. It means something for the kinds that
// the Counter it was read from Counts.
type Counts [NumCalls]int64

// Sub gives the calls made since the earlier reading d.
func (c Counts) Sub(d Counts) Counts {
	for i := range c {
		c[i] -= d[i]
	}
	return c
}

// Add gives the sum of two numbers of each kind.
func (c Counts) Add(d Counts) Counts {
	for i := range c {
		c[i] += d[i]
	}
	return c
}
