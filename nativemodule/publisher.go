package nativemodule

import "github.com/wasmjit/wasmjit/codemem"

// publisher lets one goroutine publish at a time while the others append to
// what it has to do and go on compiling, as in V8: little contention, but
// serial.
type publisher struct {
	mu    codemem.Mutex
	queue []placed
	busy  bool
	err   error // of an earlier publication; the module is lost
}

// publishLock names the publisher's lock in figures and traces.
const publishLock = "publish"

// publish publishes all, or leaves that to who is publishing already. An
// error that somebody else meets with them is given to the next who comes.
func (p *publisher) publish(m *Module, h *codemem.Holder, all []placed) error {
	p.mu.Lock(h, publishLock)
	defer p.mu.Unlock()
	if p.err != nil {
		return p.err
	}
	p.queue = append(p.queue, all...)
	if p.busy {
		return nil
	}
	p.busy = true
	for len(p.queue) > 0 && p.err == nil {
		work := p.queue
		p.queue = nil
		p.mu.Unlock()
		//scopelint:ok a scope for each publication, of all batches that wait for one
		err := m.publishCode(h, work)
		p.mu.Lock(h, publishLock)
		p.err = err
	}
	p.busy = false
	return p.err
}

// failure is the error of the last publication.
func (p *publisher) failure() error {
	p.mu.Lock(nil, publishLock)
	defer p.mu.Unlock()
	return p.err
}
