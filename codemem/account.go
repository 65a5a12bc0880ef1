package codemem

import (
	"sync/atomic"
	"time"
)

// Account is what the scopes of one opener have done in a space. Bytes and
// Open are added when a scope closes.
type Account struct {
	Opener   string
	Scopes   int64         // scopes opened
	Nested   int64         // of these, opened while another made all switches unnecessary
	Switches int64         // permission switches made on its account
	Commits  int64         // mprotects that made new pages accessible
	Bytes    int64         // bytes written
	Open     time.Duration // sum over its scopes of the time they were open
	// Switching is the time that its switches and commits took.
	Switching time.Duration
}

type opener struct {
	name                        string
	scopes, switches, bytes, ns atomic.Int64
	nested, commits, switching  atomic.Int64
	next                        *opener
}

// opener finds or adds the account of a name. Names are few and never removed,
// so a list that only grows at its head needs no lock.
func (s *Space) opener(name string) *opener {
	for {
		head := s.openers.Load()
		for o := head; o != nil; o = o.next {
			if o.name == name {
				return o
			}
		}
		o := &opener{name: name, next: head}
		if s.openers.CompareAndSwap(head, o) {
			return o
		}
	}
}

// Accounts gives the account of every opener, the most recent name first.
func (s *Space) Accounts() []Account {
	var a []Account
	for o := s.openers.Load(); o != nil; o = o.next {
		a = append(a, Account{
			Opener:    o.name,
			Scopes:    o.scopes.Load(),
			Nested:    o.nested.Load(),
			Switches:  o.switches.Load(),
			Commits:   o.commits.Load(),
			Bytes:     o.bytes.Load(),
			Open:      time.Duration(o.ns.Load()),
			Switching: time.Duration(o.switching.Load()),
		})
	}
	return a
}
