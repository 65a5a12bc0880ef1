package main

import (
	"bufio"
	"encoding/json"
	"io"
	"os"
	"slices"
	"time"

	"github.com/wasmjit/wasmjit/codemem"
)

// traceEvent is one event of Chrome's format with times in µs: complete ("X")
// or metadata ("M").
type traceEvent struct {
	Name     string     `json:"name"`
	Category string     `json:"cat,omitempty"`
	Phase    string     `json:"ph"`
	Start    float64    `json:"ts"`
	Duration float64    `json:"dur"`
	Process  int        `json:"pid"`
	Thread   int        `json:"tid"`
	Args     *traceArgs `json:"args,omitempty"`
}

type traceArgs struct {
	Name      string `json:"name,omitempty"` // of a thread
	Bytes     int64  `json:"bytes,omitempty"`
	Functions int64  `json:"functions,omitempty"`
}

var traceCategories = [...]string{
	codemem.SpanScope: "scope", codemem.SpanSwitch: "switch",
	codemem.SpanLockWait: "lock", codemem.SpanBatch: "batch",
}

// write writes all events in the order of their beginnings.
func (r *recorder) write(w io.Writer) error {
	b := bufio.NewWriter(w)
	_, _ = b.WriteString(`{"displayTimeUnit":"ns","traceEvents":[`)
	sep := "\n"
	put := func(t traceEvent) error {
		line, err := json.Marshal(t)
		_, _ = b.WriteString(sep)
		_, _ = b.Write(line)
		sep = ",\n"
		return err
	}
	l := lanes{free: 1 << 30}
	for _, e := range r.sorted() {
		start := e.Start.Sub(r.epoch)
		tid, fresh := l.place(e.thread, start, e.end)
		t := traceEvent{Phase: "M", Name: "thread_name", Process: os.Getpid(), Thread: tid}
		if fresh != "" {
			t.Args = &traceArgs{Name: fresh}
			if err := put(t); err != nil {
				return err
			}
		}
		t.Phase, t.Name, t.Category = "X", e.Name, traceCategories[e.Kind]
		t.Start, t.Duration, t.Args = microseconds(start), microseconds(e.end-start), nil
		if e.Bytes != 0 || e.Count != 0 {
			t.Args = &traceArgs{Bytes: e.Bytes, Functions: e.Count}
		}
		if err := put(t); err != nil {
			return err
		}
	}
	_, _ = b.WriteString("\n]}\n")
	return b.Flush()
}

// sorted gives all events by their beginnings, of two that begin together the
// longer first.
func (r *recorder) sorted() []event {
	var all []event
	for i := range r.shards {
		s := &r.shards[i]
		s.mu.Lock()
		for _, b := range s.blocks {
			all = append(all, b...)
		}
		s.mu.Unlock()
	}
	slices.SortStableFunc(all, func(a, b event) int {
		if c := a.Start.Compare(b.Start); c != 0 {
			return c
		}
		return int(b.end - a.end)
	})
	return all
}

func microseconds(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }

// lanes spreads the events of each thread over rows in which they nest, as
// the viewers demand. Write scopes of one thread overlap otherwise: a worker
// keeps those of its full chunks open until it has linked them.
type lanes struct {
	threads map[int][]*lane
	free    int // the next invented thread number
}

// lane is one row: the ends of the events that are open, outermost first.
type lane struct {
	tid  int
	open []time.Duration
}

// place finds the row for the next event by beginning. It also gives the
// row's name if it is new.
func (l *lanes) place(thread int, start, end time.Duration) (tid int, fresh string) {
	if l.threads == nil {
		l.threads = map[int][]*lane{}
	}
	rows := l.threads[thread]
	for _, r := range rows {
		n := len(r.open)
		for n > 0 && r.open[n-1] <= start {
			n--
		}
		r.open = r.open[:n]
		if n == 0 || end <= r.open[n-1] {
			r.open = append(r.open, end)
			return r.tid, ""
		}
	}
	r := &lane{tid: thread, open: []time.Duration{end}}
	name := sprintf("thread %d", thread)
	if len(rows) > 0 {
		r.tid = l.free
		l.free++
		name += sprintf(", row %d", len(rows)+1)
	}
	l.threads[thread] = append(rows, r)
	return r.tid, name
}
