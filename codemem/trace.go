package codemem

import (
	"sync/atomic"
	"time"
)

// SpanKind says what a span of a trace is.
type SpanKind uint8

// Kinds of spans.
const (
	// SpanScope is the life of a write scope; the name is its opener's.
	SpanScope SpanKind = iota
	// SpanSwitch is a system call that changes mappings or their protection;
	// the name is the call's and what it switches to.
	SpanSwitch
	// SpanLockWait is the wait for a contended lock; the name is the lock's.
	SpanLockWait
	// SpanBatch is the adding or publishing of a batch of functions.
	SpanBatch
)

// Span is one event of a timeline. It ended when it is reported.
type Span struct {
	Kind  SpanKind
	Name  string
	Start time.Time
	Bytes int64 // of address space switched or of code written
	Count int64 // functions of a batch, else 0
}

// Tracer receives spans from the goroutine that caused them. Its method is
// called concurrently, sometimes with locks of this package held, and must
// neither block for long nor call back.
type Tracer interface{ Span(Span) }

// tracer is nil unless someone wants a timeline: then a span costs one load.
var tracer atomic.Pointer[Tracer]

// SetTracer makes t receive all spans of the process from now on; nil ends it.
func SetTracer(t Tracer) {
	if t == nil {
		tracer.Store(nil)
		return
	}
	tracer.Store(&t)
}

// Trace reports a span that ends now.
func Trace(s Span) {
	if t := tracer.Load(); t != nil {
		(*t).Span(s)
	}
}
