package main

import (
	"io"
	"os"
	"sync"
	"sync/atomic"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"
)

// progressDelay is how long a compile must last before a bar shows.
const progressDelay = time.Second

// progress draws a bar while functions are compiled, in bytes of their bodies.
// The compile job only stores two numbers; a goroutine of its own draws.
type progress struct {
	done, total atomic.Int64
	quit        chan struct{}
	ended       sync.WaitGroup
}

// newProgress starts the bar, if mode and the writer ask for one; the
// methods of a nil *progress do nothing.
func newProgress(w io.Writer, mode string) *progress {
	if mode == "never" || mode == "auto" && !isTerminal(w) {
		return nil
	}
	p := &progress{quit: make(chan struct{})}
	p.ended.Add(1)
	go func() {
		defer p.ended.Done()
		p.draw(w)
	}()
	return p
}

func (p *progress) set(done, total int) {
	p.total.Store(int64(total))
	p.done.Store(int64(done))
}

// callback is what the compile job calls, nil without a bar.
func (p *progress) callback() func(done, total int) {
	if p == nil {
		return nil
	}
	return p.set
}

func (p *progress) draw(w io.Writer) {
	select {
	case <-p.quit:
		return
	case <-time.After(progressDelay):
	}
	bar := progressbar.NewOptions64(max(1, p.total.Load()),
		progressbar.OptionSetWriter(w),
		progressbar.OptionSetDescription("compiling"),
		// The bar starts late, so a rate or a forecast from it would be wrong.
		progressbar.OptionSetElapsedTime(false),
		progressbar.OptionSetPredictTime(false),
		progressbar.OptionClearOnFinish())
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		bar.ChangeMax64(max(1, p.total.Load()))
		_ = bar.Set64(p.done.Load())
		select {
		case <-p.quit:
			_ = bar.Clear()
			return
		case <-tick.C:
		}
	}
}

// stop takes the bar away and waits until nothing draws any more.
func (p *progress) stop() {
	if p == nil {
		return
	}
	close(p.quit)
	p.ended.Wait()
}

func isTerminal(w any) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}
