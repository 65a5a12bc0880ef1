package main

import (
	"os"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/wasmjit/wasmjit/codemem"
)

// traceFlag is --trace-write-scopes.
type traceFlag struct{ path string }

func (f *traceFlag) register(c *cobra.Command) {
	c.Flags().StringVar(&f.path, "trace-write-scopes", "",
		"write a timeline of write scopes, permission switches, lock waits and batches to this file (Chrome's trace format; Perfetto opens it)")
}

// start begins to record if a file was named. The function it returns ends
// that and writes the file.
func (f *traceFlag) start() (stop func() error, err error) {
	if f.path == "" {
		return func() error { return nil }, nil
	}
	// A file that can't be written should fail before the work, not after.
	file, err := os.Create(f.path)
	if err != nil {
		return nil, inFile(f.path, err)
	}
	r := newRecorder(time.Now())
	codemem.SetTracer(r)
	return func() error {
		codemem.SetTracer(nil)
		err := r.write(file)
		if e := file.Close(); err == nil {
			err = e
		}
		return inFile(f.path, err)
	}, nil
}

// recorder keeps the spans of a trace in memory until the end. Threads write
// to different shards, with few exceptions, so that recording adds no
// contention that the trace would then show.
type recorder struct {
	epoch  time.Time
	shards [64]shard
}

type shard struct {
	mu     sync.Mutex
	blocks [][]event
	_      [64]byte // keeps two shards off one cache line
}

// event is a span with its end and its thread.
type event struct {
	codemem.Span
	end    time.Duration
	thread int
}

// blockEvents is how many events are allocated at a time.
const blockEvents = 4096

func newRecorder(epoch time.Time) *recorder {
	r := &recorder{epoch: epoch}
	for i := range r.shards[:8] {
		r.shards[i].blocks = [][]event{make([]event, 0, blockEvents)}
	}
	return r
}

// Span records one span.
func (r *recorder) Span(s codemem.Span) {
	end := time.Since(r.epoch)
	thread := threadID()
	sh := &r.shards[thread%len(r.shards)]
	sh.mu.Lock()
	defer sh.mu.Unlock()
	last := len(sh.blocks) - 1
	if last < 0 || len(sh.blocks[last]) == blockEvents {
		sh.blocks = append(sh.blocks, make([]event, 0, blockEvents))
		last++
	}
	sh.blocks[last] = append(sh.blocks[last], event{s, end, thread})
}
