package runtime

import "sync/atomic"

// life decides when an instance's off-heap memory may be freed: after its
// close, when no call is active in it, unless a reference to it left it (it is
// kept then) and the store is still open. One word holds the flags and the
// number of active calls, so that a call costs two atomic additions.
type life struct {
	state atomic.Uint64
	// end is called once, when the memory may be freed; whole means that
	// the store ends too.
	end func(whole bool)
}

const (
	lifeClosed      = 1 << 63
	lifeKept        = 1 << 62
	lifeEnded       = 1 << 61
	lifeStoreClosed = 1 << 60
	lifeCount       = lifeStoreClosed - 1
)

// enter holds the memory until leave. It is false after the end, and after
// the close of what isn't kept.
func (l *life) enter() bool {
	v := l.state.Add(1)
	if v&lifeClosed == 0 || v&(lifeKept|lifeStoreClosed|lifeEnded) == lifeKept {
		return true
	}
	l.leave()
	return false
}

func (l *life) leave() {
	if v := l.state.Add(^uint64(0)); v&lifeClosed != 0 && v&lifeCount == 0 {
		l.settle()
	}
}

// settle ends the life if nothing holds it any more.
func (l *life) settle() {
	for {
		v := l.state.Load()
		if v&lifeClosed == 0 || v&lifeEnded != 0 || v&lifeCount != 0 || v&(lifeKept|lifeStoreClosed) == lifeKept {
			return
		}
		if l.state.CompareAndSwap(v, v|lifeEnded) {
			l.end(v&lifeStoreClosed != 0)
			return
		}
	}
}

// keep makes the memory stay until the store's end. It is false when that is
// too late.
func (l *life) keep() bool {
	for {
		v := l.state.Load()
		if v&lifeEnded != 0 {
			return false
		}
		if v&lifeKept != 0 || l.state.CompareAndSwap(v, v|lifeKept) {
			return true
		}
	}
}

// close lets no new call in, unless kept.
func (l *life) close() {
	l.state.Or(lifeClosed)
	l.settle()
}

// closeStore ends the life with the store's: end is called with whole set, at
// once or when the last active call returns. It is false, and end was called
// before, when the life had ended by itself.
func (l *life) closeStore() bool {
	if l.state.Or(lifeClosed|lifeStoreClosed)&lifeEnded != 0 {
		return false
	}
	l.settle()
	return true
}

func (l *life) isClosed() bool { return l.state.Load()&lifeClosed != 0 }
